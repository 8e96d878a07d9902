//! OS::Neutron::LBaaS::PoolMember: what is left of a pool member of the second load balancing
//! service.

use crate::declare::*;

pub(super) fn lbaas_pool_member() -> ResourceType {
    ResourceType::new("OS::Neutron::LBaaS::PoolMember")
        .about("What is left of a pool member of the second load balancing service.")
        .placeholder()
        .since("6.0.0")
        .hidden("21.0.0")
        .note("Use OS::Octavia::PoolMember.")
}
