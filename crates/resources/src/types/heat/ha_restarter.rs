//! OS::Heat::HARestarter: what is left of a resource that recreated a server when an alarm fired.

use crate::declare::*;

pub(super) fn ha_restarter() -> ResourceType {
    ResourceType::new("OS::Heat::HARestarter")
        .about("What is left of a resource that recreated a server when an alarm fired.")
        .placeholder()
        .deprecated("2015.1")
        .hidden("10.0.0")
        .note("Mark the server unhealthy and update the stack.")
}
