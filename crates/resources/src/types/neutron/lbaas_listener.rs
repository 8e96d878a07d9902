//! OS::Neutron::LBaaS::Listener: what is left of a listener of the second load balancing service.

use crate::declare::*;

pub(super) fn lbaas_listener() -> ResourceType {
    ResourceType::new("OS::Neutron::LBaaS::Listener")
        .about("What is left of a listener of the second load balancing service.")
        .placeholder()
        .since("6.0.0")
        .hidden("21.0.0")
        .note("Use OS::Octavia::Listener.")
}
