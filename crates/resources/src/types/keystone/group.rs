//! OS::Keystone::Group: a group of users of a domain.

use super::common::{Holder, check_roles, rest_spec, role_grant};
use crate::declare::*;

pub(super) fn group() -> ResourceType {
    ResourceType::new("OS::Keystone::Group")
        .about("A group of users of a domain.")
        .service(Service::Identity)
        .entity("groups")
        .detects_drift()
        .since("2015.1")
        .props([
            prop("description", Str, "Free text that describes the group.")
                .updatable()
                .default_empty(),
            prop("domain", Str, "Name or ID of the domain that the group belongs to.")
                .updatable()
                .default("default")
                .is(DOMAIN)
                .by_name(),
            prop(
                "name",
                Str,
                "Name of the group; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop("roles", List, "Roles that the group has, each on a project or a domain.")
                .updatable()
                .each(role_grant()),
        ])
        .check(check_roles)
        .rest(
            rest_spec("/groups", "group")
                .unsent(["roles"])
                .field("domain", "domain_id")
                .mark_field("description")
                .after_write(|op| Box::pin(Holder::Group.assign(op))),
        )
}
