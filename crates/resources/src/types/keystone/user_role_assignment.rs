//! OS::Keystone::UserRoleAssignment: the roles that a user has on projects and domains.

use super::common::{Holder, check_roles};
use crate::declare::*;

pub(super) fn user_role_assignment() -> ResourceType {
    ResourceType::new("OS::Keystone::UserRoleAssignment")
        .about("The roles that a user has on projects and domains.")
        .service(Service::Identity)
        .since("5.0.0")
        .props([
            prop("roles", List).updatable().each(record([
                prop("domain", Str).is("keystone.domain"),
                prop("project", Str).is("keystone.project"),
                prop("role", Str).required().is("keystone.role"),
            ])),
            prop("user", Str).required().updatable().is("keystone.user"),
        ])
        .check(check_roles)
        .creates(|op| Box::pin(Holder::User.assign(op)))
        .updates(|op| Box::pin(Holder::User.assign(op)))
        .deletes(|op| Box::pin(Holder::User.revoke(op)))
}
