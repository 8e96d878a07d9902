//! OS::Senlin::Cluster: what is left of a Senlin cluster.

use crate::declare::*;

pub(super) fn cluster() -> ResourceType {
    ResourceType::new("OS::Senlin::Cluster")
        .about("What is left of a Senlin cluster.")
        .placeholder()
        .since("6.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
