//! Container clusters: `OS::Magnum::*`.

use crate::declare::*;
use crate::property_access::text;
use crate::rest::{RestSpec, UpdateMethod};
use crate::types::fragments::name_prop;

mod bay;
mod bay_model;
mod cluster;
mod cluster_template;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        bay::bay(),
        bay_model::bay_model(),
        cluster::cluster(),
        cluster_template::cluster_template(),
    ]
}

/// Declares a cluster template, which has two type names.
fn template_of_clusters(kind: ResourceType) -> ResourceType {
    kind.service(Service::ContainerInfra)
        .props([
            prop("coe", Str, "Container orchestration engine, such as `kubernetes`.")
                .required()
                .one_of(["kubernetes", "swarm", "mesos"]),
            prop("dns_nameserver", Str, "Address of the name server that the nodes use.")
                .is(IP_ADDR),
            prop(
                "docker_storage_driver",
                Str,
                "How Docker stores image and container layers on the nodes.",
            )
            .default("devicemapper")
            .one_of(["devicemapper", "overlay"]),
            prop(
                "docker_volume_size",
                Int,
                "Size in GB of the volume that each node has for containers.",
            )
            .min(1),
            prop(
                "external_network",
                Str,
                "External network through which the cluster is reached, by name or ID.",
            )
            .required()
            .is(NETWORK)
            .by_name(),
            prop(
                "fixed_network",
                Str,
                "Existing network for the nodes, by name or ID; a new one if omitted.",
            )
            .is(NETWORK)
            .by_name(),
            prop(
                "fixed_subnet",
                Str,
                "Existing subnet for the nodes, by name or ID; a new one if omitted.",
            )
            .is(SUBNET)
            .by_name(),
            prop("flavor", Str, "Flavor of the worker nodes, by name or ID.").is(FLAVOR),
            prop("floating_ip_enabled", Bool, "Whether the nodes get floating IPs.").default(true),
            prop("http_proxy", Str, "URL of the proxy through which nodes make HTTP requests."),
            prop("https_proxy", Str, "URL of the proxy through which nodes make HTTPS requests."),
            prop("image", Str, "Image that the nodes boot from, by name or ID.")
                .required()
                .is(IMAGE),
            prop("keypair", Str, "Name of the key pair for SSH access to the nodes.").is(KEY_PAIR),
            prop(
                "labels",
                Map,
                "Key-value pairs that tune the cluster driver, for instance component versions.",
            ),
            prop("master_flavor", Str, "Flavor of the control plane's nodes, by name or ID.")
                .is(FLAVOR),
            prop(
                "master_lb_enabled",
                Bool,
                "Whether a load balancer stands in front of the control plane.",
            )
            .default(true),
            name_prop(),
            prop(
                "network_driver",
                Str,
                "Network plug-in for containers, such as `flannel` or `calico`.",
            ),
            prop(
                "no_proxy",
                Str,
                "Comma-separated addresses and domains that are reached without the proxies.",
            ),
            prop(
                "public",
                Bool,
                "Whether users of all projects can make clusters from the template.",
            )
            .updatable()
            .default(false),
            prop("registry_enabled", Bool, "Whether clusters run an image registry of their own.")
                .default(false),
            prop(
                "server_type",
                Str,
                "Whether nodes are virtual machines (`vm`) or bare metal (`bm`).",
            )
            .default("vm")
            .one_of(["vm", "bm"]),
            prop(
                "tls_disabled",
                Bool,
                "Whether the cluster's API goes without TLS and so without authentication.",
            )
            .default(false),
            prop(
                "volume_driver",
                Str,
                "Driver for persistent volumes: `cinder` with Kubernetes, otherwise `rexray`.",
            )
            .one_of(["cinder", "rexray"]),
        ])
        .check(driver_suits)
        .rest(
            objects("/clustertemplates", "clustertemplates")
                .field("external_network", "external_network_id")
                .field("flavor", "flavor_id")
                .field("image", "image_id")
                .field("keypair", "keypair_id")
                .field("master_flavor", "master_flavor_id"),
        )
}

/// Objects of the service, whose lists cannot be filtered.
fn objects(path: &'static str, many: &'static str) -> RestSpec {
    RestSpec::new(Service::ContainerInfra, path, "")
        .list_envelope(many)
        .id("uuid")
        .list_suffix("?limit=1000")
        .update_method(UpdateMethod::JsonPatch("application/json".into()))
}

/// Checks that the volume driver suits the orchestration engine.
fn driver_suits(members: &Members) -> Result<(), PropertyError> {
    let (Some(engine), Some(driver)) = (text(members, "coe"), text(members, "volume_driver"))
    else {
        return Ok(());
    };
    let suitable = if engine == "kubernetes" { "cinder" } else { "rexray" };
    if driver == suitable {
        return Ok(());
    }
    let message = format!(
        "Volume driver type {driver} is not supported by COE:{engine}, expecting a ['{suitable}'] volume driver."
    );
    Err(PropertyError::new(message))
}
