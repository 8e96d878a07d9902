//! OS::Keystone::User: a user of a domain, with groups and roles.

use super::common::{Holder, check_roles, rest_spec, role_grant};
use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use crate::property_access::{items, open};
use crate::rest;
use kiln_cloud::{CallPath, delete, put};
use serde_json::Value as Json;

pub(super) fn user() -> ResourceType {
    ResourceType::new("OS::Keystone::User")
        .about("A user of a domain, with groups and roles.")
        .service(Service::Identity)
        .entity("users")
        .detects_drift()
        .since("2015.1")
        .props([
            prop(
                "default_project",
                Str,
                "Name or ID of the project used when the user logs in without naming one.",
            )
            .updatable()
            .is(PROJECT)
            .by_name(),
            prop("description", Str, "Free text that describes the user.")
                .updatable()
                .default_empty(),
            prop("domain", Str, "Name or ID of the domain that the user belongs to.")
                .updatable()
                .default("default")
                .is(DOMAIN)
                .by_name(),
            prop("email", Str, "Mail address of the user.").updatable(),
            prop("enabled", Bool, "Whether the user can log in.").updatable().default(true),
            prop("groups", List, "Names or IDs of the groups that the user is a member of.")
                .updatable()
                .each(item(Str).is(GROUP).by_name()),
            prop(
                "name",
                Str,
                "Name of the user; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop("password", Str, "Password with which the user logs in.").updatable(),
            prop("roles", List, "Roles that the user has, each on a project or a domain.")
                .updatable()
                .each(role_grant()),
        ])
        .attrs([
            attr(
                "default_project_id",
                Str,
                "ID of the project used when the user logs in without naming one.",
            )
            .since("9.0.0"),
            attr("domain_id", Str, "ID of the domain that the user belongs to.").since("9.0.0"),
            attr("enabled", Bool, "Whether the user can log in.").since("9.0.0"),
            attr("name", Str, "Name of the user in the identity service.").since("9.0.0"),
            attr(
                "password_expires_at",
                Str,
                "Time at which the password expires; null if it never does.",
            )
            .since("9.0.0"),
        ])
        .check(check_roles)
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            rest_spec("/users", "user")
                .unsent(["groups", "roles"])
                .field("domain", "domain_id")
                .field("default_project", "default_project_id")
                .mark_field("description")
                .after_write(|op| Box::pin(belong(op))),
        )
}

/// Adds the user to its groups, removes it from former ones, and grants its roles.
async fn belong(op: &mut Op) -> Result<(), OpError> {
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let (former, wanted) = (groups(op, &before), groups(op, &after));
    for path in former.iter().filter(|path| !wanted.contains(path)) {
        op.remove(&format!("leave {path}"), delete(Service::Identity, path.clone())).await?;
    }
    for path in wanted.iter().filter(|path| !former.contains(path)) {
        let call = put(Service::Identity, path.clone(), Json::Null).empty();
        op.call(&format!("join {path}"), call).await?;
    }
    Holder::User.assign(op).await
}

/// The paths of the user's memberships in groups.
fn groups(op: &Op, properties: &Members) -> Vec<CallPath> {
    let user = op.id().map_or("", |id| id);
    let groups = items(properties, "groups").iter().filter_map(|it| open(it).as_text());
    groups.map(|group| CallPath::from("/groups").id(group).then("/users").id(user)).collect()
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(user) = op.id().cloned() else { return Ok(()) };
    let properties = op.context().properties.clone();
    for group in items(&properties, "groups").iter().filter_map(|it| open(it).as_text()) {
        // A group that is not found is deleted, and the membership with it.
        let Ok(group) = lookup::find_id(op, GROUP, group).await else { continue };
        let path = CallPath::from("/groups").id(&group).then("/users").id(&user);
        op.remove(&format!("leave {group}"), delete(Service::Identity, path)).await?;
    }
    rest::remove(op).await
}
