//! Roles given to users and groups: on projects, on domains, on the system.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::ask::{Answer, Ask, Reply};
use super::super::problem::Problem;
use super::super::records::{Grant, Holder, Place, grant_id};
use super::super::rights::Target;
use super::super::state::State;
use super::super::token::Subject;
use super::roles::show_role;

pub(in super::super) fn list_on_project(ask: &Ask<'_>) -> Answer {
    list(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn list_of_group_on_project(ask: &Ask<'_>) -> Answer {
    list(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn check_on_project(ask: &Ask<'_>) -> Answer {
    check(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn check_of_group_on_project(ask: &Ask<'_>) -> Answer {
    check(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn add_on_project(ask: &Ask<'_>) -> Answer {
    add(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn add_of_group_on_project(ask: &Ask<'_>) -> Answer {
    add(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn remove_on_project(ask: &Ask<'_>) -> Answer {
    remove(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn remove_of_group_on_project(ask: &Ask<'_>) -> Answer {
    remove(ask, &Asked::on(ask, Place::Project(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn list_on_domain(ask: &Ask<'_>) -> Answer {
    list(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn list_of_group_on_domain(ask: &Ask<'_>) -> Answer {
    list(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn check_on_domain(ask: &Ask<'_>) -> Answer {
    check(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn check_of_group_on_domain(ask: &Ask<'_>) -> Answer {
    check(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn add_on_domain(ask: &Ask<'_>) -> Answer {
    add(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn add_of_group_on_domain(ask: &Ask<'_>) -> Answer {
    add(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn remove_on_domain(ask: &Ask<'_>) -> Answer {
    remove(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::User))
}

pub(in super::super) fn remove_of_group_on_domain(ask: &Ask<'_>) -> Answer {
    remove(ask, &Asked::on(ask, Place::Domain(ask.param(0).to_owned()), Holder::Group))
}

pub(in super::super) fn list_on_system(ask: &Ask<'_>) -> Answer {
    list(ask, &Asked::on_system(ask))
}

pub(in super::super) fn check_on_system(ask: &Ask<'_>) -> Answer {
    check(ask, &Asked::on_system(ask))
}

pub(in super::super) fn add_on_system(ask: &Ask<'_>) -> Answer {
    add(ask, &Asked::on_system(ask))
}

pub(in super::super) fn remove_on_system(ask: &Ask<'_>) -> Answer {
    remove(ask, &Asked::on_system(ask))
}

/// Which grant it is about.
struct Asked<'a> {
    place: Place,
    holder: &'a str,
    kind: Holder,
    /// Nothing where all are meant.
    role: &'a str,
}

impl<'a> Asked<'a> {
    fn on(ask: &'a Ask<'_>, place: Place, kind: Holder) -> Asked<'a> {
        Asked { place, holder: ask.param(1), kind, role: ask.param(2) }
    }

    fn on_system(ask: &'a Ask<'_>) -> Asked<'a> {
        let kind = Holder::User;
        Asked { place: Place::System, holder: ask.param(0), kind, role: ask.param(1) }
    }

    /// The rule's name, which is another one for the system.
    fn rule(&self, usual: &'static str, system: &'static str) -> &'static str {
        if self.place == Place::System { system } else { usual }
    }

    /// Whether the caller may, and whether all of it exists.
    fn check(&self, state: &State, caller: &Subject, rule: &str) -> Result<(), Problem> {
        let holder_home = match self.kind {
            Holder::User => state.users.get(self.holder).map(|user| user.domain_id.as_str()),
            Holder::Group => state.groups.get(self.holder).map(|group| group.domain_id.as_str()),
        };
        let home = match &self.place {
            Place::Project(id) => state.projects.get(id).map(|project| project.domain_id.as_str()),
            Place::Domain(id) => state.domains.get(id).map(|domain| domain.id.as_str()),
            Place::System => Some(""),
        };
        let both = home.zip(holder_home).map(|(home, holder_home)| [home, holder_home]);
        let domains = both.as_ref().map_or(&[][..], |both| both.as_slice());
        caller.may(rule, Target { domains, ..Target::default() })?;
        if rule == "create_grant" && !caller.is_admin() && self.reaches_beyond(state) {
            return Err(Problem::forbidden("identity:create_grant"));
        }
        if !self.role.is_empty() && !state.roles.has(self.role) {
            return Err(Problem::missing("role", self.role));
        }
        if holder_home.is_none() {
            return Err(Problem::missing(self.kind.word(), self.holder));
        }
        match (&self.place, home) {
            (Place::Project(id), None) => Err(Problem::missing("project", id)),
            (Place::Domain(id), None) => Err(Problem::missing("domain", id)),
            _ => Ok(()),
        }
    }

    /// Whether the role counts outside of the domain in which it is given: with it, the administrator of a domain would
    /// make themselves more than that.
    fn reaches_beyond(&self, state: &State) -> bool {
        let roles = state.with_implied(BTreeSet::from([self.role.to_owned()]));
        let names =
            roles.iter().filter_map(|id| state.roles.get(id)).map(|role| role.name.as_str());
        names.into_iter().any(|name| ["admin", "service"].contains(&name))
    }

    fn id(&self) -> String {
        grant_id(self.holder, &self.place, self.role)
    }

    fn missing(&self) -> Problem {
        Problem::not_found(format!(
            "Could not find role assignment with role: {}, user or group: {}, project, domain, or system: {}.",
            self.role,
            self.holder,
            self.place.id()
        ))
    }
}

fn list(ask: &Ask<'_>, asked: &Asked<'_>) -> Answer {
    let caller = ask.caller()?;
    let rule = asked.rule("list_grants", "list_system_grants_for_user");
    let rows = ask.identity.look(|state| {
        asked.check(state, &caller, rule)?;
        let granted = state.granted(asked.holder, &asked.place);
        let roles = granted.iter().filter_map(|id| state.roles.get(id));
        Ok::<Vec<Value>, Problem>(roles.map(|role| show_role(ask, role)).collect())
    })?;
    ask.list("roles", rows, &["name"])
}

fn check(ask: &Ask<'_>, asked: &Asked<'_>) -> Answer {
    let caller = ask.caller()?;
    let rule = asked.rule("check_grant", "check_system_grant_for_user");
    ask.identity.look(|state| {
        asked.check(state, &caller, rule)?;
        if state.grants.has(&asked.id()) { Ok(Reply::done()) } else { Err(asked.missing()) }
    })
}

fn add(ask: &Ask<'_>, asked: &Asked<'_>) -> Answer {
    let caller = ask.caller()?;
    let rule = asked.rule("create_grant", "create_system_grant_for_user");
    ask.identity.change(|state| {
        asked.check(state, &caller, rule)?;
        let _ = state.grants.put(Grant {
            holder: asked.holder.to_owned(),
            kind: asked.kind,
            place: asked.place.clone(),
            role: asked.role.to_owned(),
        });
        Ok(Reply::done())
    })
}

fn remove(ask: &Ask<'_>, asked: &Asked<'_>) -> Answer {
    let caller = ask.caller()?;
    let rule = asked.rule("revoke_grant", "revoke_system_grant_for_user");
    ask.identity.change(|state| {
        asked.check(state, &caller, rule)?;
        state.grants.remove(&asked.id()).ok_or_else(|| asked.missing())?;
        Ok(Reply::done())
    })
}
