//! OS::Neutron::LBaaS::Pool: what is left of a pool of the second load balancing service.

use crate::declare::*;

pub(super) fn lbaas_pool() -> ResourceType {
    ResourceType::new("OS::Neutron::LBaaS::Pool")
        .about("What is left of a pool of the second load balancing service.")
        .placeholder()
        .since("6.0.0")
        .hidden("21.0.0")
        .note("Use OS::Octavia::Pool.")
}
