//! OS::Senlin::Profile: what is left of a profile from which Senlin made its nodes.

use crate::declare::*;

pub(super) fn profile() -> ResourceType {
    ResourceType::new("OS::Senlin::Profile")
        .about("What is left of a profile from which Senlin made its nodes.")
        .placeholder()
        .since("6.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
