//! OS::Sahara::ClusterTemplate: what is left of a template for data processing clusters.

use crate::declare::*;

pub(super) fn cluster_template() -> ResourceType {
    ResourceType::new("OS::Sahara::ClusterTemplate")
        .about("What is left of a template for data processing clusters.")
        .placeholder()
        .since("2014.2")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
