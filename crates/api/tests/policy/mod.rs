//! The policy: which caller may do what.

mod builtin;
mod files;
mod matrix;
mod recorded;

use kiln_api::caller::{Caller, Scope};

/// A caller with roles in a project.
pub(crate) fn caller(project: &str, roles: &[&str]) -> Caller {
    Caller {
        user_id: "u1".into(),
        project_id: project.into(),
        scope: Scope::Project,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        is_admin_project: true,
        ..Caller::default()
    }
}
