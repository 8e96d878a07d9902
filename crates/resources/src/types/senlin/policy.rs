//! OS::Senlin::Policy: what is left of a policy for Senlin clusters.

use crate::declare::*;

pub(super) fn policy() -> ResourceType {
    ResourceType::new("OS::Senlin::Policy")
        .about("What is left of a policy for Senlin clusters.")
        .placeholder()
        .since("6.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
