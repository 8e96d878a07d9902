//! OS::Magnum::Cluster: a container cluster made from a cluster template.

use crate::declare::*;

pub(super) fn cluster() -> ResourceType {
    ResourceType::new("OS::Magnum::Cluster")
        .about("A container cluster made from a cluster template.")
        .service(Service::ContainerInfra)
        .entity("clusters")
        .since("9.0.0")
        .props([
            prop("cluster_template", Str).required().is("magnum.cluster_template").by_name(),
            prop("create_timeout", Int).updatable().default(60).min(0),
            prop("discovery_url", Str).updatable(),
            prop("keypair", Str).is("nova.keypair"),
            prop("master_count", Int).updatable().default(1).min(1),
            prop("name", Str),
            prop("node_count", Int).updatable().default(1).min(1),
        ])
        .attrs([
            attr("api_address", Str),
            attr("cluster_template_id", Str),
            attr("coe_version", Str),
            attr("container_version", Str),
            attr("create_timeout", Int),
            attr("discovery_url", Str),
            attr("keypair", Str),
            attr("master_addresses", List),
            attr("master_count", Int),
            attr("name", Str),
            attr("node_addresses", List),
            attr("node_count", Int),
            attr("stack_id", Str),
            attr("status", Str),
            attr("status_reason", Str),
        ])
}
