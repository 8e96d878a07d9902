//! `/v3/roles` and what roles imply.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::{Implication, Role};
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::users::set_options;

const FIELDS: &[Field] = &[
    ("name", Kind::Name(255), true),
    ("description", Kind::Note, false),
    ("domain_id", Kind::Note, false),
    ("options", Kind::Options(&["immutable"]), false),
];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("list_roles", Target::default())?;
    let domain = ask.query("domain_id").unwrap_or("");
    let rows = ask
        .identity
        .look(|state| state.roles.in_scope(domain).map(|role| show_role(ask, role)).collect());
    ask.list("roles", rows, &["name"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "role", FIELDS)?;
    caller.may("create_role", Target::default())?;
    let role = Role {
        id: new_id()?,
        name: shape::text(asked, "name").unwrap_or_default(),
        domain_id: shape::text(asked, "domain_id"),
        description: shape::text(asked, "description"),
        options: set_options(Map::new(), asked),
    };
    let shown = show_role(ask, &role);
    ask.identity.change(|state| {
        if let Some(domain) = role.domain_id.as_deref().filter(|id| !state.domains.has(id)) {
            return Err(Problem::missing("domain", domain));
        }
        let clash = clash(&role);
        state.roles.add(role).map_err(|_| clash)
    })?;
    Ok(Reply::created(json!({ "role": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("get_role", Target::default())?;
    let role = ask.identity.look(|state| find(state, ask.param(0)))?;
    Ok(Reply::ok(json!({ "role": show_role(ask, &role) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("update_role", Target::default())?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let role = ask.identity.change(|state| {
        let role = find(state, ask.param(0))?;
        let asked = shape::change(&ask.body, "role", &fields)?;
        let mut fresh = role.clone();
        fresh.options = set_options(fresh.options, asked);
        if fresh.options.get("immutable") == Some(&json!(true)) {
            immutable(&role, "update")?;
        }
        if let Some(name) = shape::text(asked, "name") {
            fresh.name = name;
        }
        if asked.contains_key("description") {
            fresh.description = shape::text(asked, "description");
        }
        let clash = clash(&fresh);
        state.roles.put(fresh.clone()).map_err(|_| clash)?;
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "role": show_role(ask, &role) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("delete_role", Target::default())?;
    ask.identity.change(|state| {
        let role = find(state, ask.param(0))?;
        immutable(&role, "delete")?;
        state.remove_role(&role.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn inferences(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("list_role_inference_rules", Target::default())?;
    let rules = ask.identity.look(|state| {
        let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for rule in state.implications.iter() {
            rules.entry(&rule.prior).or_default().push(brief(ask, state, &rule.implied));
        }
        let shown = rules.into_iter().map(|(prior, implied)| {
            json!({ "prior_role": brief(ask, state, prior), "implies": implied })
        });
        shown.collect::<Vec<Value>>()
    });
    Ok(Reply::ok(json!({ "role_inferences": rules })))
}

pub(in super::super) fn implied(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("list_implied_roles", Target::default())?;
    let prior = ask.param(0);
    let inference = ask.identity.look(|state| {
        find(state, prior)?;
        let prefix = format!("{prior}/");
        let implied: Vec<Value> = state
            .implications
            .beginning(&prefix)
            .map(|rule| brief(ask, state, &rule.implied))
            .collect();
        Ok::<Value, Problem>(json!({ "prior_role": brief(ask, state, prior), "implies": implied }))
    })?;
    let links = json!({ "self": ask.link(&format!("roles/{prior}/implies")) });
    Ok(Reply::ok(json!({ "role_inference": inference, "links": links })))
}

pub(in super::super) fn show_implied(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("get_implied_role", Target::default())?;
    ask.identity.look(|state| rule(ask, state))?;
    Ok(Reply::ok(inference(ask)))
}

pub(in super::super) fn check_implied(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("check_implied_role", Target::default())?;
    ask.identity.look(|state| rule(ask, state))?;
    Ok(Reply::done())
}

pub(in super::super) fn imply(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("create_implied_role", Target::default())?;
    ask.identity.change(|state| {
        let prior = find(state, ask.param(0))?;
        let implied = find(state, ask.param(1))?;
        // Whoever may say what roles imply could make themselves an administrator that way.
        if implied.name == "admin" && implied.domain_id.is_none() {
            return Err(Problem::refused(format!("{} cannot be an implied roles.", implied.id)));
        }
        let _ = state.implications.put(Implication { prior: prior.id, implied: implied.id });
        Ok(())
    })?;
    Ok(Reply::created(inference(ask)))
}

pub(in super::super) fn stop_implying(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("delete_implied_role", Target::default())?;
    ask.identity.change(|state| {
        let id = rule(ask, state)?;
        state.implications.remove(&id);
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(super) fn show_role(ask: &Ask<'_>, role: &Role) -> Value {
    ask.linked(plain(role), "roles", &role.id)
}

/// A role without a link, as it is shown within other things.
pub(super) fn plain(role: &Role) -> Value {
    json!({
        "id": role.id, "name": role.name, "domain_id": role.domain_id,
        "description": role.description, "options": role.options,
    })
}

fn rule(ask: &Ask<'_>, state: &State) -> Result<String, Problem> {
    let (prior, implied) = (ask.param(0), ask.param(1));
    let id = format!("{prior}/{implied}");
    if state.implications.has(&id) {
        return Ok(id);
    }
    Err(Problem::not_found(format!("{prior} does not imply {implied}.")))
}

fn inference(ask: &Ask<'_>) -> Value {
    let (prior, implied) = (ask.param(0), ask.param(1));
    let rule = ask.identity.look(|state| {
        json!({ "prior_role": brief(ask, state, prior), "implies": brief(ask, state, implied) })
    });
    let links = json!({ "self": ask.link(&format!("roles/{prior}/implies/{implied}")) });
    json!({ "role_inference": rule, "links": links })
}

fn brief(ask: &Ask<'_>, state: &State, id: &str) -> Value {
    let name = state.roles.get(id).map_or("", |role| role.name.as_str());
    json!({ "id": id, "links": { "self": ask.link(&format!("roles/{id}")) }, "name": name })
}

fn find(state: &State, id: &str) -> Result<Role, Problem> {
    state.roles.get(id).cloned().ok_or_else(|| Problem::missing("role", id))
}

fn clash(role: &Role) -> Problem {
    Problem::conflict("role", format!("Duplicate entry found with name {}", role.name))
}

fn immutable(role: &Role, verb: &str) -> Result<(), Problem> {
    if role.options.get("immutable") == Some(&json!(true)) {
        return Err(Problem::refused(format!(
            "Unable to {verb} immutable role resource: `{}. Set resource option \"immutable\" to false first.",
            role.id
        )));
    }
    Ok(())
}
