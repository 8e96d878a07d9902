//! The common parts of the types of the identity service: plain objects, and roles on projects and domains.

use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, text};
use crate::refusals::{conflict, is_given, may_be_given};
use crate::rest::{self, RestSpec, UpdateMethod};
use kiln_cloud::{CallPath, delete, put};
use serde_json::Value as Json;

/// Objects of the identity service. Their names are unique, so they are created under a mark and renamed.
pub(super) fn rest_spec(path: &'static str, one: &'static str) -> RestSpec {
    RestSpec::new(Service::Identity, path, one)
        .update_method(UpdateMethod::Patch)
        .marks_then_renames()
        .deleted_at_once()
}

/// An item of the property `roles`: a role on a project or a domain.
pub(super) fn role_grant() -> Prop {
    record([
        prop(
            "domain",
            Str,
            "Name or ID of the domain on which the role is granted; not together with a project.",
        )
        .is(DOMAIN),
        prop(
            "project",
            Str,
            "Name or ID of the project on which the role is granted; not together with a domain.",
        )
        .is(PROJECT),
        prop("role", Str, "Name or ID of the role that is granted.").required().is(ROLE),
    ])
}

/// The holder of roles: a user or a group.
pub(super) enum Holder {
    User,
    Group,
}

impl Holder {
    fn property(&self) -> &'static str {
        match self {
            Holder::User => "user",
            Holder::Group => "group",
        }
    }

    /// The holders of roles in a path.
    fn collection(&self) -> &'static str {
        match self {
            Holder::User => "/users",
            Holder::Group => "/groups",
        }
    }

    fn kind(&self) -> CustomConstraint {
        match self {
            Holder::User => USER,
            Holder::Group => GROUP,
        }
    }

    /// The paths of the grants in properties. The holder is named by a property, or is the resource's own
    /// object. Grants whose role, project or domain does not exist are skipped, unless they must be found.
    async fn grants(
        &self,
        op: &mut Op,
        properties: &Members,
        must_be_found: bool,
    ) -> Result<Vec<CallPath>, OpError> {
        let mut grants = Vec::new();
        for wanted in items(properties, "roles") {
            let Some(wanted) = open(wanted).as_map() else { continue };
            match self.grant(op, properties, wanted).await {
                Ok(grant) => grants.push(grant),
                Err(stop) if must_be_found => return Err(stop),
                Err(_) => {}
            }
        }
        Ok(grants)
    }

    async fn grant(
        &self,
        op: &mut Op,
        properties: &Members,
        wanted: &Members,
    ) -> Result<CallPath, OpError> {
        let holder = match text(properties, self.property()) {
            Some(named) => lookup::find_id(op, self.kind(), named).await?,
            None => op.id().cloned().unwrap_or_default(),
        };
        let role = text(wanted, "role").unwrap_or_default();
        let role = lookup::find_id(op, ROLE, role).await?;
        let place = match (text(wanted, "project"), text(wanted, "domain")) {
            (Some(project), _) => {
                CallPath::from("/projects").id(lookup::find_id(op, PROJECT, project).await?)
            }
            (None, domain) => {
                let domain = domain.unwrap_or_default();
                CallPath::from("/domains").id(lookup::find_id(op, DOMAIN, domain).await?)
            }
        };
        Ok(place.then(self.collection()).id(holder).then("/roles").id(role))
    }

    /// Grants the roles in the template, and revokes former ones.
    pub(super) async fn assign(&self, op: &mut Op) -> Result<(), OpError> {
        let (before, after) =
            (op.context().previous_properties.clone(), op.context().properties.clone());
        // Users and groups with roles of their own have no property that names the holder.
        let is_other = op.declares(self.property()) && op.changes(self.property());
        if !is_other && op.previous("roles") == op.prop("roles") {
            return Ok(());
        }
        let granted = self.grants(op, &before, false).await?;
        let wanted = self.grants(op, &after, true).await?;
        for path in granted.iter().filter(|path| !wanted.contains(path)) {
            op.remove(&format!("revoke {path}"), delete(Service::Identity, path.clone())).await?;
        }
        for path in wanted.iter().filter(|path| !granted.contains(path)) {
            let call = put(Service::Identity, path.clone(), Json::Null).empty();
            op.call(&format!("grant {path}"), call).await?;
        }
        Ok(())
    }

    /// Revokes the roles that were granted.
    pub(super) async fn revoke(&self, op: &mut Op) -> Result<(), OpError> {
        let properties = op.context().properties.clone();
        for path in self.grants(op, &properties, false).await? {
            op.remove(&format!("revoke {path}"), delete(Service::Identity, path.clone())).await?;
        }
        Ok(())
    }
}

/// Checks that every role is on a project or on a domain.
pub(super) fn check_roles(members: &Members) -> Result<(), PropertyError> {
    for role in items(members, "roles").iter().filter_map(|it| open(it).as_map()) {
        if is_given(role, "project") && is_given(role, "domain") {
            return Err(conflict(&["project", "domain"]));
        }
        if !may_be_given(role, "project") && !may_be_given(role, "domain") {
            let name = text(role, "role").unwrap_or_default();
            let message = format!("Either project or domain must be specified for role {name}");
            return Err(PropertyError::new(message));
        }
    }
    Ok(())
}

/// The path of the resource's object.
pub(super) fn path(op: &Op) -> CallPath {
    rest::own_path(op)
}
