//! OS::Neutron::LBaaS::L7Policy: what is left of a layer-7 policy of the second load balancing
//! service.

use crate::declare::*;

pub(super) fn lbaas_l7_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::LBaaS::L7Policy")
        .about("What is left of a layer-7 policy of the second load balancing service.")
        .placeholder()
        .since("7.0.0")
        .hidden("21.0.0")
        .note("Use OS::Octavia::L7Policy.")
}
