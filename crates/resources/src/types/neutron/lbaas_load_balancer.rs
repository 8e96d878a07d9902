//! OS::Neutron::LBaaS::LoadBalancer: what is left of a load balancer of the second load balancing
//! service.

use crate::declare::*;

pub(super) fn lbaas_load_balancer() -> ResourceType {
    ResourceType::new("OS::Neutron::LBaaS::LoadBalancer")
        .about("What is left of a load balancer of the second load balancing service.")
        .placeholder()
        .since("6.0.0")
        .hidden("21.0.0")
        .note("Use OS::Octavia::LoadBalancer.")
}
