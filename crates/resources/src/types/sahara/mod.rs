//! Placeholders for the retired data processing service: `OS::Sahara::*`.

use crate::declare::ResourceType;

mod cluster;
mod cluster_template;
mod data_source;
mod image_registry;
mod job;
mod job_binary;
mod node_group_template;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        cluster::cluster(),
        cluster_template::cluster_template(),
        data_source::data_source(),
        image_registry::image_registry(),
        job::job(),
        job_binary::job_binary(),
        node_group_template::node_group_template(),
    ]
}
