//! OS::Sahara::NodeGroupTemplate: what is left of a template for the nodes of data processing
//! clusters.

use crate::declare::*;

pub(super) fn node_group_template() -> ResourceType {
    ResourceType::new("OS::Sahara::NodeGroupTemplate")
        .about("What is left of a template for the nodes of data processing clusters.")
        .placeholder()
        .since("2014.2")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
