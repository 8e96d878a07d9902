//! `/v3/role_assignments`: who has which role where.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask};
use super::super::problem::Problem;
use super::super::records::{Grant, Place};
use super::super::rights::Target;
use super::super::state::State;

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    caller.may("list_role_assignments", Target::default())?;
    let said = |name: &str| ask.query(name).filter(|value| !value.is_empty());
    let scopes = ["scope.domain.id", "scope.project.id", "scope.system"];
    if scopes.iter().filter(|name| said(name).is_some()).count() > 1 {
        return Err(Problem::bad("Specify a domain or project, not both"));
    }
    let effective = ask.asks_for("effective");
    if effective && said("group.id").is_some() {
        return Err(Problem::bad(
            "Combining effective and group filter will always result in an empty list.",
        ));
    }
    // There are no groups, and nothing is inherited.
    if said("group.id").is_some() || said("scope.OS-INHERIT:inherited_to").is_some() {
        return ask.list("role_assignments", Vec::new(), &[]);
    }
    let rows = ask.identity.look(|state| {
        let mut rows = Vec::new();
        for grant in state.grants.iter() {
            let here = match (&grant.place, caller.own_domain()) {
                (_, None) => true,
                (Place::Domain(id), Some(own)) => id == own,
                (Place::Project(id), Some(own)) => {
                    state.projects.get(id).is_some_and(|project| project.domain_id == own)
                }
                (Place::System, Some(_)) => false,
            };
            if here && wanted(ask, grant) {
                rows.extend(show(ask, state, grant, effective));
            }
        }
        rows
    });
    ask.list("role_assignments", rows, &[])
}

fn wanted(ask: &Ask<'_>, grant: &Grant) -> bool {
    let fits =
        |name: &str, value: Option<&str>| match ask.query(name).filter(|word| !word.is_empty()) {
            Some(word) => value == Some(word),
            None => true,
        };
    let (project, domain, system) = match &grant.place {
        Place::Project(id) => (Some(id.as_str()), None, None),
        Place::Domain(id) => (None, Some(id.as_str()), None),
        Place::System => (None, None, Some("all")),
    };
    fits("user.id", Some(&grant.user))
        && fits("scope.project.id", project)
        && fits("scope.domain.id", domain)
        && fits("scope.system", system)
}

/// The grant and, if asked for, what it implies. The role is looked at here: an implied one may be the one asked for.
fn show(ask: &Ask<'_>, state: &State, grant: &Grant, effective: bool) -> Vec<Value> {
    let roles = if effective {
        state.with_implied(BTreeSet::from([grant.role.clone()]))
    } else {
        BTreeSet::from([grant.role.clone()])
    };
    let asked_for = ask.query("role.id").filter(|word| !word.is_empty());
    let roles = roles.iter().filter(|role| asked_for.is_none_or(|wanted| *role == wanted));
    roles.map(|role| row(ask, state, grant, role)).collect()
}

fn row(ask: &Ask<'_>, state: &State, grant: &Grant, role: &str) -> Value {
    let names = ask.asks_for("include_names");
    let path = match &grant.place {
        Place::Project(id) => format!("projects/{id}"),
        Place::Domain(id) => format!("domains/{id}"),
        Place::System => "system".to_owned(),
    };
    let link = ask.link(&format!("{path}/users/{}/roles/{}", grant.user, grant.role));
    let mut links = json!({ "assignment": link });
    if role != grant.role {
        links["prior_role"] = json!(ask.link(&format!("prior_role/{role}/implies/{}", grant.role)));
    }
    let domain = |id: &str| {
        let name = state.domains.get(id).map_or("", |domain| domain.name.as_str());
        if names { json!({ "id": id, "name": name }) } else { json!({ "id": id }) }
    };
    let named = |id: &str, found: Option<(&str, &str)>| match found.filter(|_| names) {
        Some((name, home)) => json!({ "id": id, "name": name, "domain": domain(home) }),
        None => json!({ "id": id }),
    };
    let scope = match &grant.place {
        Place::Project(id) => {
            let project = state.projects.get(id);
            let found = project.map(|project| (project.name.as_str(), project.domain_id.as_str()));
            json!({ "project": named(id, found) })
        }
        Place::Domain(id) => json!({ "domain": domain(id) }),
        Place::System => json!({ "system": { "all": true } }),
    };
    let user = state.users.get(&grant.user);
    let user = user.map(|user| (user.name.as_str(), user.domain_id.as_str()));
    let mut shown_role = json!({ "id": role });
    if let Some(known) = state.roles.get(role).filter(|_| names) {
        shown_role["name"] = json!(known.name);
    }
    json!({ "links": links, "scope": scope, "user": named(&grant.user, user), "role": shown_role })
}
