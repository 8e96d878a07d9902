//! Projects, users, roles and the catalogue: `OS::Keystone::*`.

use crate::declare::ResourceType;

mod common;
mod domain;
mod endpoint;
mod group;
mod group_role_assignment;
mod project;
mod region;
mod role;
mod service;
mod user;
mod user_role_assignment;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        domain::domain(),
        endpoint::endpoint(),
        group::group(),
        group_role_assignment::group_role_assignment(),
        project::project(),
        region::region(),
        role::role(),
        service::service(),
        user::user(),
        user_role_assignment::user_role_assignment(),
    ]
}
