//! Grants of roles to users and groups on projects, domains and the system.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{ActorType, Grant, Scope, grant_id};
use super::super::request::{Answer, Reply, Request};
use super::super::state::State;
use super::super::token::Subject;
use super::roles::show_role;

pub(in super::super) fn list_on_project(request: &Request<'_>) -> Answer {
    list(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn list_of_group_on_project(request: &Request<'_>) -> Answer {
    list(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn check_on_project(request: &Request<'_>) -> Answer {
    check(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn check_of_group_on_project(request: &Request<'_>) -> Answer {
    check(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn add_on_project(request: &Request<'_>) -> Answer {
    add(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn add_of_group_on_project(request: &Request<'_>) -> Answer {
    add(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn remove_on_project(request: &Request<'_>) -> Answer {
    remove(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn remove_of_group_on_project(request: &Request<'_>) -> Answer {
    remove(
        request,
        &GrantRequest::on(request, Scope::Project(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn list_on_domain(request: &Request<'_>) -> Answer {
    list(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn list_of_group_on_domain(request: &Request<'_>) -> Answer {
    list(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn check_on_domain(request: &Request<'_>) -> Answer {
    check(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn check_of_group_on_domain(request: &Request<'_>) -> Answer {
    check(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn add_on_domain(request: &Request<'_>) -> Answer {
    add(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn add_of_group_on_domain(request: &Request<'_>) -> Answer {
    add(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn remove_on_domain(request: &Request<'_>) -> Answer {
    remove(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::User),
    )
}

pub(in super::super) fn remove_of_group_on_domain(request: &Request<'_>) -> Answer {
    remove(
        request,
        &GrantRequest::on(request, Scope::Domain(request.param(0).to_owned()), ActorType::Group),
    )
}

pub(in super::super) fn list_on_system(request: &Request<'_>) -> Answer {
    list(request, &GrantRequest::on_system(request))
}

pub(in super::super) fn check_on_system(request: &Request<'_>) -> Answer {
    check(request, &GrantRequest::on_system(request))
}

pub(in super::super) fn add_on_system(request: &Request<'_>) -> Answer {
    add(request, &GrantRequest::on_system(request))
}

pub(in super::super) fn remove_on_system(request: &Request<'_>) -> Answer {
    remove(request, &GrantRequest::on_system(request))
}

/// The grant that a request addresses.
struct GrantRequest<'a> {
    scope: Scope,
    holder: &'a str,
    kind: ActorType,
    /// The role; empty in a list request.
    role: &'a str,
}

impl<'a> GrantRequest<'a> {
    fn on(request: &'a Request<'_>, scope: Scope, kind: ActorType) -> GrantRequest<'a> {
        GrantRequest { scope, holder: request.param(1), kind, role: request.param(2) }
    }

    fn on_system(request: &'a Request<'_>) -> GrantRequest<'a> {
        let kind = ActorType::User;
        GrantRequest {
            scope: Scope::System,
            holder: request.param(0),
            kind,
            role: request.param(1),
        }
    }

    /// Returns the name of the policy rule, which differs for the system.
    fn rule(&self, usual: &'static str, system: &'static str) -> &'static str {
        if self.scope == Scope::System { system } else { usual }
    }

    /// Authorizes the caller and checks that the referenced records exist.
    fn check(&self, state: &State, caller: &Subject, rule: &str) -> Result<(), ApiError> {
        let holder_home = match self.kind {
            ActorType::User => state.users.get(self.holder).map(|user| user.domain_id.as_str()),
            ActorType::Group => state.groups.get(self.holder).map(|group| group.domain_id.as_str()),
        };
        let home = match &self.scope {
            Scope::Project(id) => state.projects.get(id).map(|project| project.domain_id.as_str()),
            Scope::Domain(id) => state.domains.get(id).map(|domain| domain.id.as_str()),
            Scope::System => Some(""),
        };
        let both = home.zip(holder_home).map(|(home, holder_home)| [home, holder_home]);
        let domains = both.as_ref().map_or(&[][..], |both| both.as_slice());
        caller.authorize(rule, Target { domains, ..Target::default() })?;
        if rule == "create_grant" && !caller.is_admin() && self.reaches_beyond(state) {
            return Err(ApiError::forbidden("identity:create_grant"));
        }
        if !self.role.is_empty() && !state.roles.has(self.role) {
            return Err(ApiError::missing("role", self.role));
        }
        if holder_home.is_none() {
            return Err(ApiError::missing(self.kind.word(), self.holder));
        }
        match (&self.scope, home) {
            (Scope::Project(id), None) => Err(ApiError::missing("project", id)),
            (Scope::Domain(id), None) => Err(ApiError::missing("domain", id)),
            _ => Ok(()),
        }
    }

    /// Reports whether the role has effect outside of the domain. A domain administrator could use such a role to
    /// gain rights elsewhere.
    fn reaches_beyond(&self, state: &State) -> bool {
        let roles = state.with_implied(BTreeSet::from([self.role.to_owned()]));
        let names =
            roles.iter().filter_map(|id| state.roles.get(id)).map(|role| role.name.as_str());
        names.into_iter().any(|name| ["admin", "service"].contains(&name))
    }

    fn id(&self) -> String {
        grant_id(self.holder, &self.scope, self.role)
    }

    fn missing(&self) -> ApiError {
        ApiError::not_found(format!(
            "Could not find role assignment with role: {}, user or group: {}, project, domain, or system: {}.",
            self.role,
            self.holder,
            self.scope.id()
        ))
    }
}

fn list(request: &Request<'_>, requested: &GrantRequest<'_>) -> Answer {
    let caller = request.caller()?;
    let rule = requested.rule("list_grants", "list_system_grants_for_user");
    let rows = request.identity.read(|state| {
        requested.check(state, &caller, rule)?;
        let granted = state.granted(requested.holder, &requested.scope);
        let roles = granted.iter().filter_map(|id| state.roles.get(id));
        Ok::<Vec<Value>, ApiError>(roles.map(|role| show_role(request, role)).collect())
    })?;
    request.list("roles", rows, &["name"])
}

fn check(request: &Request<'_>, requested: &GrantRequest<'_>) -> Answer {
    let caller = request.caller()?;
    let rule = requested.rule("check_grant", "check_system_grant_for_user");
    request.identity.read(|state| {
        requested.check(state, &caller, rule)?;
        if state.grants.has(&requested.id()) { Ok(Reply::done()) } else { Err(requested.missing()) }
    })
}

fn add(request: &Request<'_>, requested: &GrantRequest<'_>) -> Answer {
    let caller = request.caller()?;
    let rule = requested.rule("create_grant", "create_system_grant_for_user");
    request.identity.update(|state| {
        requested.check(state, &caller, rule)?;
        let _ = state.grants.put(Grant {
            actor: requested.holder.to_owned(),
            actor_type: requested.kind,
            scope: requested.scope.clone(),
            role: requested.role.to_owned(),
        });
        Ok(Reply::done())
    })
}

fn remove(request: &Request<'_>, requested: &GrantRequest<'_>) -> Answer {
    let caller = request.caller()?;
    let rule = requested.rule("revoke_grant", "revoke_system_grant_for_user");
    request.identity.update(|state| {
        requested.check(state, &caller, rule)?;
        state.grants.remove(&requested.id()).ok_or_else(|| requested.missing())?;
        Ok(Reply::done())
    })
}
