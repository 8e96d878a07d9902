//! OS::Sahara::Cluster: what is left of a data processing cluster.

use crate::declare::*;

pub(super) fn cluster() -> ResourceType {
    ResourceType::new("OS::Sahara::Cluster")
        .about("What is left of a data processing cluster.")
        .placeholder()
        .since("5.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
