//! OS::Keystone::Project: a project, which owns the objects of the cloud.

use super::common::rest_spec;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::rest;
use kiln_cloud::{CallPath, delete, get};

pub(super) fn project() -> ResourceType {
    ResourceType::new("OS::Keystone::Project")
        .about("A project, which owns the objects of the cloud.")
        .service(Service::Identity)
        .entity("projects")
        .detects_drift()
        .since("2015.1")
        .props([
            prop("description", Str, "Free text that describes the project.")
                .updatable()
                .default_empty(),
            prop("domain", Str, "Name or ID of the domain that the project belongs to.")
                .updatable()
                .default("default")
                .is(DOMAIN)
                .by_name(),
            prop("enabled", Bool, "Whether users can work in the project.")
                .updatable()
                .default(true),
            prop(
                "name",
                Str,
                "Name of the project; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop(
                "parent",
                Str,
                "Name or ID of the project above this one; the domain itself if omitted.",
            )
            .is(PROJECT)
            .by_name()
            .since("6.0.0"),
            prop("tags", List, "Words by which the project can be found.")
                .updatable()
                .default_empty()
                .since("10.0.0"),
        ])
        .attrs([
            attr("domain_id", Str, "ID of the domain that the project belongs to.").since("10.0.0"),
            attr("enabled", Bool, "Whether users can work in the project.").since("10.0.0"),
            attr("is_domain", Bool, "Whether the project also acts as a domain.").since("10.0.0"),
            attr("name", Str, "Name of the project in the identity service.").since("10.0.0"),
            attr("parent_id", Str, "ID of the project or domain above this project.")
                .since("10.0.0"),
        ])
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            rest_spec("/projects", "project")
                .field("domain", "domain_id")
                .field("parent", "parent_id")
                .mark_field("description"),
        )
}

/// Deletes the project after its default security group, which would stay in the network service.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(project) = op.id().cloned() else { return Ok(()) };
    let list = get(Service::Network, "/security-groups")
        .query("project_id", &*project)
        .query("name", "default");
    let groups = match op.read(list).await {
        Ok(reply) => reply.body["security_groups"].as_array().cloned().unwrap_or_default(),
        // A cloud without a network service has no security groups.
        Err(OpError::Failed(failure)) if failure.class == FailureClass::EndpointNotFound => {
            Vec::new()
        }
        Err(stop) => return Err(stop),
    };
    for id in groups.iter().filter_map(|group| group["id"].as_str()) {
        let call = delete(Service::Network, CallPath::from("/security-groups").id(id));
        op.remove(&format!("remove group {id}"), call).await?;
    }
    rest::remove(op).await
}
