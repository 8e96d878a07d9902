//! OS::Magnum::ClusterTemplate: the image, network and orchestration engine that container clusters
//! are made with.

use super::template_of_clusters;
use crate::declare::*;

pub(super) fn cluster_template() -> ResourceType {
    ResourceType::new("OS::Magnum::ClusterTemplate")
        .about("The image, network and orchestration engine that container clusters are made with.")
        .entity("cluster_templates")
        .since("9.0.0")
        .with(template_of_clusters)
}
