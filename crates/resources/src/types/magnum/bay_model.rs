//! OS::Magnum::BayModel: a model of container clusters, under its former name.

use super::template_of_clusters;
use crate::declare::*;

pub(super) fn bay_model() -> ResourceType {
    ResourceType::new("OS::Magnum::BayModel")
        .about("A model of container clusters, under its former name.")
        .entity("cluster_templates")
        .successor("OS::Magnum::ClusterTemplate")
        .since("5.0.0")
        .deprecated("9.0.0")
        .hidden("11.0.0")
        .note("Use OS::Magnum::ClusterTemplate.")
        .with(template_of_clusters)
}
