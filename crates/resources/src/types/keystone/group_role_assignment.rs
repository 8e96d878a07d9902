//! OS::Keystone::GroupRoleAssignment: the roles that a group has on projects and domains.

use super::common::{Holder, check_roles};
use crate::declare::*;

pub(super) fn group_role_assignment() -> ResourceType {
    ResourceType::new("OS::Keystone::GroupRoleAssignment")
        .about("The roles that a group has on projects and domains.")
        .service(Service::Identity)
        .since("5.0.0")
        .props([
            prop("group", Str, "Name or ID of the group that gets the roles.").required().updatable().is(GROUP),
            prop("roles", List, "Roles that the group gets, each on a project or a domain.").updatable().each(record([
                prop("domain", Str, "Name or ID of the domain on which the role is granted; not together with a project.").is(DOMAIN),
                prop("project", Str, "Name or ID of the project on which the role is granted; not together with a domain.").is(PROJECT),
                prop("role", Str, "Name or ID of the role that is granted.").required().is(ROLE),
            ])),
        ])
        .check(check_roles)
        .creates(|op| Box::pin(Holder::Group.assign(op)))
        .updates(|op| Box::pin(Holder::Group.assign(op)))
        .deletes(|op| Box::pin(Holder::Group.revoke(op)))
}
