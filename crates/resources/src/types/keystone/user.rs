//! OS::Keystone::User: a user of a domain, with groups and roles.

use super::common::{Holder, check_roles, rest_spec};
use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use crate::property_access::{items, open};
use crate::rest;
use kiln_cloud::{delete, put};
use serde_json::Value as Json;

pub(super) fn user() -> ResourceType {
    ResourceType::new("OS::Keystone::User")
        .about("A user of a domain, with groups and roles.")
        .service(Service::Identity)
        .entity("users")
        .detects_drift()
        .since("2015.1")
        .props([
            prop("default_project", Str).updatable().is("keystone.project").by_name(),
            prop("description", Str).updatable().default_empty(),
            prop("domain", Str).updatable().default("default").is("keystone.domain").by_name(),
            prop("email", Str).updatable(),
            prop("enabled", Bool).updatable().default(true),
            prop("groups", List).updatable().each(item(Str).is("keystone.group").by_name()),
            prop("name", Str).updatable(),
            prop("password", Str).updatable(),
            prop("roles", List).updatable().each(record([
                prop("domain", Str).is("keystone.domain"),
                prop("project", Str).is("keystone.project"),
                prop("role", Str).required().is("keystone.role"),
            ])),
        ])
        .attrs([
            attr("default_project_id", Str).since("9.0.0"),
            attr("domain_id", Str).since("9.0.0"),
            attr("enabled", Bool).since("9.0.0"),
            attr("name", Str).since("9.0.0"),
            attr("password_expires_at", Str).since("9.0.0"),
        ])
        .check(check_roles)
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            rest_spec("/users", "user")
                .field("default_project", "default_project_id")
                .mark_field("description")
                .after_write(|op| Box::pin(belong(op))),
        )
}

/// Has the user in the groups and with the roles that are asked for.
async fn belong(op: &mut Op) -> Result<(), OpError> {
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let (former, wanted) = (groups(op, &before), groups(op, &after));
    for path in former.iter().filter(|path| !wanted.contains(path)) {
        op.remove(&format!("leave {path}"), delete(Service::Identity, path.as_str())).await?;
    }
    for path in wanted.iter().filter(|path| !former.contains(path)) {
        let call = put(Service::Identity, path.as_str(), Json::Null).empty();
        op.call(&format!("join {path}"), call).await?;
    }
    Holder::User.assign(op).await
}

/// The user's places in groups, which are named by their ids.
fn groups(op: &Op, properties: &Members) -> Vec<String> {
    let user = op.id().map_or("", |id| id);
    let groups = items(properties, "groups").iter().filter_map(|it| open(it).as_text());
    groups.map(|group| format!("/groups/{group}/users/{user}")).collect()
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(user) = op.id().cloned() else { return Ok(()) };
    let properties = op.context().properties.clone();
    for group in items(&properties, "groups").iter().filter_map(|it| open(it).as_text()) {
        // What cannot be found is gone, and the user is not in it.
        let Ok(group) = lookup::find_id(op, "keystone.group", group).await else { continue };
        let path = format!("/groups/{group}/users/{user}");
        op.remove(&format!("leave {group}"), delete(Service::Identity, path)).await?;
    }
    rest::remove(op).await
}
