//! OS::Keystone::GroupRoleAssignment: the roles that a group has on projects and domains.

use super::common::{Holder, check_roles, role_grant};
use crate::declare::*;

pub(super) fn group_role_assignment() -> ResourceType {
    ResourceType::new("OS::Keystone::GroupRoleAssignment")
        .about("The roles that a group has on projects and domains.")
        .service(Service::Identity)
        .since("5.0.0")
        .props([
            prop("group", Str, "Name or ID of the group that gets the roles.")
                .required()
                .updatable()
                .is(GROUP),
            prop("roles", List, "Roles that the group gets, each on a project or a domain.")
                .updatable()
                .each(role_grant()),
        ])
        .check(check_roles)
        .creates(|op| Box::pin(Holder::Group.assign(op)))
        .updates(|op| Box::pin(Holder::Group.assign(op)))
        .deletes(|op| Box::pin(Holder::Group.revoke(op)))
}
