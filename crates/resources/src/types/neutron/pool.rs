//! OS::Neutron::Pool: what is left of a pool of the first load balancing service.

use crate::declare::*;

pub(super) fn pool() -> ResourceType {
    ResourceType::new("OS::Neutron::Pool")
        .about("What is left of a pool of the first load balancing service.")
        .placeholder()
        .deprecated("7.0.0")
        .hidden("9.0.0")
        .note("Use OS::Octavia::Pool.")
}
