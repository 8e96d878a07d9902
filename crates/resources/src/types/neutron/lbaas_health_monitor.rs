//! OS::Neutron::LBaaS::HealthMonitor: what is left of a health monitor of the second load balancing
//! service.

use crate::declare::*;

pub(super) fn lbaas_health_monitor() -> ResourceType {
    ResourceType::new("OS::Neutron::LBaaS::HealthMonitor")
        .about("What is left of a health monitor of the second load balancing service.")
        .placeholder()
        .since("6.0.0")
        .hidden("21.0.0")
        .note("Use OS::Octavia::HealthMonitor.")
}
