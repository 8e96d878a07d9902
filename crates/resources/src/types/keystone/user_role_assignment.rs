//! OS::Keystone::UserRoleAssignment: the roles that a user has on projects and domains.

use super::common::{Holder, check_roles, role_grant};
use crate::declare::*;

pub(super) fn user_role_assignment() -> ResourceType {
    ResourceType::new("OS::Keystone::UserRoleAssignment")
        .about("The roles that a user has on projects and domains.")
        .service(Service::Identity)
        .since("5.0.0")
        .props([
            prop("roles", List, "Roles that the user gets, each on a project or a domain.")
                .updatable()
                .each(role_grant()),
            prop("user", Str, "Name or ID of the user who gets the roles.")
                .required()
                .updatable()
                .is(USER),
        ])
        .check(check_roles)
        .creates(|op| Box::pin(Holder::User.assign(op)))
        .updates(|op| Box::pin(Holder::User.assign(op)))
        .deletes(|op| Box::pin(Holder::User.revoke(op)))
}
