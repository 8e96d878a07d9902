//! OS::Neutron::LoadBalancer: what is left of the tie between pool and servers in the first load
//! balancing.

use crate::declare::*;

pub(super) fn load_balancer() -> ResourceType {
    ResourceType::new("OS::Neutron::LoadBalancer")
        .about("What is left of the tie between pool and servers in the first load balancing.")
        .placeholder()
        .since("2014.1")
        .deprecated("7.0.0")
        .hidden("9.0.0")
        .note("Use OS::Octavia::LoadBalancer.")
}
