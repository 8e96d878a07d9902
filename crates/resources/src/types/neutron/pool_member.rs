//! OS::Neutron::PoolMember: what is left of a pool member of the first load balancing service.

use crate::declare::*;

pub(super) fn pool_member() -> ResourceType {
    ResourceType::new("OS::Neutron::PoolMember")
        .about("What is left of a pool member of the first load balancing service.")
        .placeholder()
        .since("2014.1")
        .deprecated("7.0.0")
        .hidden("9.0.0")
        .note("Use OS::Octavia::PoolMember.")
}
