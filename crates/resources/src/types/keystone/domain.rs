//! OS::Keystone::Domain: a domain, which holds projects, users and groups.

use super::common::{path, rest_spec};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest;
use kiln_cloud::patch;
use serde_json::json;

pub(super) fn domain() -> ResourceType {
    ResourceType::new("OS::Keystone::Domain")
        .about("A domain, which holds projects, users and groups.")
        .service(Service::Identity)
        .entity("domains")
        .detects_drift()
        .since("8.0.0")
        .props([
            prop("description", Str, "Free text that describes the domain.").updatable(),
            prop("enabled", Bool, "Whether users of the domain can log in.")
                .updatable()
                .default(true),
            prop(
                "name",
                Str,
                "Name of the domain; made from the stack and resource names if omitted.",
            )
            .updatable(),
        ])
        .deletes(|op| Box::pin(remove(op)))
        .rest(rest_spec("/domains", "domain").mark_field("description"))
}

/// Disables the domain and deletes it: Keystone refuses to delete an enabled domain.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        let body = json!({ "domain": { "enabled": false } });
        op.remove("disable", patch(Service::Identity, path(op), body)).await?;
    }
    rest::remove(op).await
}
