//! OS::Magnum::Cluster: a container cluster made from a cluster template.

use super::objects;
use crate::declare::*;
use crate::op::{Op, OpError, Progress};
use crate::rest::{self, Readiness};
use crate::types::fragments::{name_attr, name_prop};
use crate::wire;
use kiln_cloud::{Reply, get};

pub(super) fn cluster() -> ResourceType {
    ResourceType::new("OS::Magnum::Cluster")
        .about("A container cluster made from a cluster template.")
        .service(Service::ContainerInfra)
        .entity("clusters")
        .since("9.0.0")
        .props([
            prop("cluster_template", Str, "Template that the cluster is made from, by name or ID.")
                .required()
                .is(CLUSTER_TEMPLATE)
                .by_name(),
            prop(
                "create_timeout",
                Int,
                "Minutes after which building the cluster is given up; 0 means never.",
            )
            .updatable()
            .default(60)
            .min(0),
            prop(
                "discovery_url",
                Str,
                "URL through which the nodes find each other; generated if omitted.",
            )
            .updatable(),
            prop("keypair", Str, "Name of the key pair for SSH access; the template's if omitted.")
                .is(KEY_PAIR),
            prop("master_count", Int, "Number of nodes that run the control plane.")
                .updatable()
                .default(1)
                .min(1),
            name_prop(),
            prop("node_count", Int, "Number of nodes that run workloads.")
                .updatable()
                .default(1)
                .min(1),
        ])
        .attrs([
            attr("api_address", Str, "URL of the orchestration engine's API."),
            attr("cluster_template_id", Str, "ID of the template that the cluster was made from."),
            attr("coe_version", Str, "Version of the container orchestration engine."),
            attr("container_version", Str, "Version of the container runtime."),
            attr("create_timeout", Int, "Minutes allowed for building the cluster."),
            attr("discovery_url", Str, "URL through which the nodes find each other."),
            attr("keypair", Str, "Name of the key pair for SSH access."),
            attr("master_addresses", List, "IP addresses of the control plane's nodes."),
            attr("master_count", Int, "Number of nodes that run the control plane."),
            name_attr(),
            attr("node_addresses", List, "IP addresses of the worker nodes."),
            attr("node_count", Int, "Number of worker nodes."),
            attr("stack_id", Str, "ID of the stack with which the service built the cluster."),
            attr("status", Str, "Current status, such as `CREATE_COMPLETE`."),
            attr("status_reason", Str, "Explanation of the status, mostly of a failure."),
        ])
        .updates(|op| Box::pin(update(op)))
        .rest(
            objects("/clusters", "clusters")
                .field("cluster_template", "cluster_template_id")
                .readiness(
                    Readiness::when("status", DONE, FAILED)
                        .degraded(["UPDATE_FAILED", "DELETE_FAILED"])
                        .reason("status_reason"),
                ),
        )
}

const DONE: [&str; 3] = ["CREATE_COMPLETE", "UPDATE_COMPLETE", "RESUME_COMPLETE"];
const FAILED: [&str; 3] = ["CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED"];

/// Updates the cluster. The service answers before it starts, so the update is complete only when the cluster
/// shows the new values.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let fields = rest::changed_fields(op, &spec);
    let wanted: Vec<_> = fields
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    if let Some(call) = rest::change(op, &spec, fields) {
        op.call("change", call).await?;
    }
    let look = get(Service::ContainerInfra, rest::path(op, &spec));
    let reply = op.until(look, |reply| progress(reply, &wanted)).await?;
    op.set_remote(wire::value(&reply.body));
    Ok(())
}

fn progress(reply: &Reply, wanted: &[(String, serde_json::Value)]) -> Progress {
    let status = reply.text("/status").unwrap_or_default();
    let is_as_wanted = wanted.iter().all(|(name, value)| reply.body[name.as_str()] == *value);
    if FAILED.contains(&status) && is_as_wanted {
        let why = reply.text("/status_reason").unwrap_or("Unknown");
        return Progress::Failed(format!("Went to status {status} due to \"{why}\""));
    }
    if DONE.contains(&status) && is_as_wanted { Progress::Ready } else { Progress::NotYet }
}
