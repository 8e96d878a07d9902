//! OS::Keystone::GroupRoleAssignment: the roles that a group has on projects and domains.

use super::common::{Holder, check_roles};
use crate::declare::*;

pub(super) fn group_role_assignment() -> ResourceType {
    ResourceType::new("OS::Keystone::GroupRoleAssignment")
        .about("The roles that a group has on projects and domains.")
        .service(Service::Identity)
        .since("5.0.0")
        .props([
            prop("group", Str).required().updatable().is("keystone.group"),
            prop("roles", List).updatable().each(record([
                prop("domain", Str).is("keystone.domain"),
                prop("project", Str).is("keystone.project"),
                prop("role", Str).required().is("keystone.role"),
            ])),
        ])
        .check(check_roles)
        .creates(|op| Box::pin(Holder::Group.assign(op)))
        .updates(|op| Box::pin(Holder::Group.assign(op)))
        .deletes(|op| Box::pin(Holder::Group.revoke(op)))
}
