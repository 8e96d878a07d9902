//! `/v3/role_assignments`: who has which role where.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask};
use super::super::problem::Problem;
use super::super::records::{Grant, Holder, Place};
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
    if said("user.id").is_some() && said("group.id").is_some() {
        return Err(Problem::bad("Specify a user or group, not both"));
    }
    let effective = ask.asks_for("effective");
    if effective && said("group.id").is_some() {
        return Err(Problem::bad(
            "Combining effective and group filter will always result in an empty list.",
        ));
    }
    // Nothing is inherited.
    if said("scope.OS-INHERIT:inherited_to").is_some() {
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
            if !here || !is_placed_right(ask, grant) {
                continue;
            }
            for held in holders(state, grant, effective) {
                if is_held_right(ask, &held) {
                    rows.extend(show(ask, state, &held, effective));
                }
            }
        }
        rows
    });
    ask.list("role_assignments", rows, &[])
}

/// A grant as somebody has it.
struct Held<'a> {
    grant: &'a Grant,
    holder: &'a str,
    kind: Holder,
}

/// Who has a grant: if it is asked for who has it in effect, the members of a group instead of the group.
fn holders<'a>(state: &'a State, grant: &'a Grant, effective: bool) -> Vec<Held<'a>> {
    if effective && grant.kind == Holder::Group {
        let members = state.members_of(&grant.holder);
        return members.map(|user| Held { grant, holder: &user.id, kind: Holder::User }).collect();
    }
    vec![Held { grant, holder: &grant.holder, kind: grant.kind }]
}

/// Whether a value is what the query says, if it says something.
fn fits(ask: &Ask<'_>, name: &str, value: Option<&str>) -> bool {
    let said = ask.query(name).filter(|word| !word.is_empty());
    said.is_none_or(|word| value == Some(word))
}

fn is_held_right(ask: &Ask<'_>, held: &Held<'_>) -> bool {
    let of = |kind: Holder| (held.kind == kind).then_some(held.holder);
    fits(ask, "user.id", of(Holder::User)) && fits(ask, "group.id", of(Holder::Group))
}

fn is_placed_right(ask: &Ask<'_>, grant: &Grant) -> bool {
    let (project, domain, system) = match &grant.place {
        Place::Project(id) => (Some(id.as_str()), None, None),
        Place::Domain(id) => (None, Some(id.as_str()), None),
        Place::System => (None, None, Some("all")),
    };
    fits(ask, "scope.project.id", project)
        && fits(ask, "scope.domain.id", domain)
        && fits(ask, "scope.system", system)
}

/// The grant and, if asked for, what it implies. The role is looked at here: an implied one may be the one asked for.
fn show(ask: &Ask<'_>, state: &State, held: &Held<'_>, effective: bool) -> Vec<Value> {
    let grant = held.grant;
    let roles = if effective {
        state.with_implied(BTreeSet::from([grant.role.clone()]))
    } else {
        BTreeSet::from([grant.role.clone()])
    };
    let asked_for = ask.query("role.id").filter(|word| !word.is_empty());
    let roles = roles.iter().filter(|role| asked_for.is_none_or(|wanted| *role == wanted));
    roles.map(|role| row(ask, state, held, role)).collect()
}

fn row(ask: &Ask<'_>, state: &State, held: &Held<'_>, role: &str) -> Value {
    let grant = held.grant;
    let names = ask.asks_for("include_names");
    let path = match &grant.place {
        Place::Project(id) => format!("projects/{id}"),
        Place::Domain(id) => format!("domains/{id}"),
        Place::System => "system".to_owned(),
    };
    let word = grant.kind.word();
    let link = ask.link(&format!("{path}/{word}s/{}/roles/{}", grant.holder, grant.role));
    let mut links = json!({ "assignment": link });
    if held.kind != grant.kind {
        let membership = format!("groups/{}/users/{}", grant.holder, held.holder);
        links["membership"] = json!(ask.link(&membership));
    }
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
    let holder = match held.kind {
        Holder::User => state.users.get(held.holder).map(|it| (&*it.name, &*it.domain_id)),
        Holder::Group => state.groups.get(held.holder).map(|it| (&*it.name, &*it.domain_id)),
    };
    let holder = named(held.holder, holder);
    let mut shown_role = json!({ "id": role });
    if let Some(known) = state.roles.get(role).filter(|_| names) {
        shown_role["name"] = json!(known.name);
    }
    json!({ "links": links, "scope": scope, held.kind.word(): holder, "role": shown_role })
}
