//! OS::Keystone::UserRoleAssignment: the roles that a user has on projects and domains.

use super::common::{Holder, check_roles};
use crate::declare::*;

pub(super) fn user_role_assignment() -> ResourceType {
    ResourceType::new("OS::Keystone::UserRoleAssignment")
        .about("The roles that a user has on projects and domains.")
        .service(Service::Identity)
        .since("5.0.0")
        .props([
            prop("roles", List, "Roles that the user gets, each on a project or a domain.").updatable().each(record([
                prop("domain", Str, "Name or ID of the domain on which the role is granted; not together with a project.").is(DOMAIN),
                prop("project", Str, "Name or ID of the project on which the role is granted; not together with a domain.").is(PROJECT),
                prop("role", Str, "Name or ID of the role that is granted.").required().is(ROLE),
            ])),
            prop("user", Str, "Name or ID of the user who gets the roles.").required().updatable().is(USER),
        ])
        .check(check_roles)
        .creates(|op| Box::pin(Holder::User.assign(op)))
        .updates(|op| Box::pin(Holder::User.assign(op)))
        .deletes(|op| Box::pin(Holder::User.revoke(op)))
}
