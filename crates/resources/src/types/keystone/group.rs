//! OS::Keystone::Group: a group of users of a domain.

use super::common::{Holder, check_roles, rest_spec};
use crate::declare::*;

pub(super) fn group() -> ResourceType {
    ResourceType::new("OS::Keystone::Group")
        .about("A group of users of a domain.")
        .service(Service::Identity)
        .entity("groups")
        .detects_drift()
        .since("2015.1")
        .props([
            prop("description", Str).updatable().default_empty(),
            prop("domain", Str).updatable().default("default").is("keystone.domain").by_name(),
            prop("name", Str).updatable(),
            prop("roles", List).updatable().each(record([
                prop("domain", Str).is("keystone.domain"),
                prop("project", Str).is("keystone.project"),
                prop("role", Str).required().is("keystone.role"),
            ])),
        ])
        .check(check_roles)
        .rest(
            rest_spec("/groups", "group")
                .mark_field("description")
                .after_write(|op| Box::pin(Holder::Group.assign(op))),
        )
}
