//! OS::Senlin::Node: what is left of a node of a Senlin cluster.

use crate::declare::*;

pub(super) fn node() -> ResourceType {
    ResourceType::new("OS::Senlin::Node")
        .about("What is left of a node of a Senlin cluster.")
        .placeholder()
        .since("6.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
