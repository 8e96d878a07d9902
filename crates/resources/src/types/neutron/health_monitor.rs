//! OS::Neutron::HealthMonitor: what is left of a health monitor of the first load balancing
//! service.

use crate::declare::*;

pub(super) fn health_monitor() -> ResourceType {
    ResourceType::new("OS::Neutron::HealthMonitor")
        .about("What is left of a health monitor of the first load balancing service.")
        .placeholder()
        .deprecated("7.0.0")
        .hidden("9.0.0")
        .note("Use OS::Octavia::HealthMonitor.")
}
