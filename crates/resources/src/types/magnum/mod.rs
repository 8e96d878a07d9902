//! Container clusters: `OS::Magnum::*`.

use crate::declare::*;
use crate::property_access::text;
use crate::rest::{RestSpec, UpdateMethod};

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

/// What a template of clusters has, by whichever name.
fn template_of_clusters(kind: ResourceType) -> ResourceType {
    kind.service(Service::ContainerInfra)
        .props([
            prop("coe", Str).required().one_of(["kubernetes", "swarm", "mesos"]),
            prop("dns_nameserver", Str).is("ip_addr"),
            prop("docker_storage_driver", Str)
                .default("devicemapper")
                .one_of(["devicemapper", "overlay"]),
            prop("docker_volume_size", Int).min(1),
            prop("external_network", Str).required().is("neutron.network").by_name(),
            prop("fixed_network", Str).is("neutron.network").by_name(),
            prop("fixed_subnet", Str).is("neutron.subnet").by_name(),
            prop("flavor", Str).is("nova.flavor"),
            prop("floating_ip_enabled", Bool).default(true),
            prop("http_proxy", Str),
            prop("https_proxy", Str),
            prop("image", Str).required().is("glance.image"),
            prop("keypair", Str).is("nova.keypair"),
            prop("labels", Map),
            prop("master_flavor", Str).is("nova.flavor"),
            prop("master_lb_enabled", Bool).default(true),
            prop("name", Str),
            prop("network_driver", Str),
            prop("no_proxy", Str),
            prop("public", Bool).updatable().default(false),
            prop("registry_enabled", Bool).default(false),
            prop("server_type", Str).default("vm").one_of(["vm", "bm"]),
            prop("tls_disabled", Bool).default(false),
            prop("volume_driver", Str).one_of(["cinder", "rexray"]),
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

/// Objects of the service. Its lists cannot be narrowed down.
fn objects(path: &'static str, many: &'static str) -> RestSpec {
    RestSpec::new(Service::ContainerInfra, path, "")
        .list_envelope(many)
        .id("uuid")
        .list_suffix("?limit=1000")
        .update_method(UpdateMethod::JsonPatch("application/json".into()))
}

/// Every orchestration engine has a volume driver of its own.
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
