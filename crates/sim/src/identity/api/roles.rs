//! `/v3/roles` and implied roles.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{Implication, Role};
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::validation::{self, Field, FieldType};
use super::users::set_options;

const FIELDS: &[Field] = &[
    ("name", FieldType::Name(255), true),
    ("description", FieldType::Note, false),
    ("domain_id", FieldType::Note, false),
    ("options", FieldType::Options(&["immutable"]), false),
];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("list_roles", Target::default())?;
    let domain = request.query("domain_id").unwrap_or("");
    let rows = request
        .identity
        .read(|state| state.roles.in_scope(domain).map(|role| show_role(request, role)).collect());
    request.list("roles", rows, &["name"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "role", FIELDS)?;
    caller.authorize("create_role", Target::default())?;
    let role = Role {
        id: new_id()?,
        name: validation::text(requested, "name").unwrap_or_default(),
        domain_id: validation::text(requested, "domain_id"),
        description: validation::text(requested, "description"),
        options: set_options(Map::new(), requested),
    };
    let rendered = show_role(request, &role);
    request.identity.update(|state| {
        if let Some(domain) = role.domain_id.as_deref().filter(|id| !state.domains.has(id)) {
            return Err(ApiError::missing("domain", domain));
        }
        let name_conflict = name_conflict(&role);
        state.roles.add(role).map_err(|_| name_conflict)
    })?;
    Ok(Reply::created(json!({ "role": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("get_role", Target::default())?;
    let role = request.identity.read(|state| find(state, request.param(0)))?;
    Ok(Reply::ok(json!({ "role": show_role(request, &role) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("update_role", Target::default())?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let role = request.identity.update(|state| {
        let role = find(state, request.param(0))?;
        let requested = validation::non_empty_object(&request.body, "role", &fields)?;
        let mut fresh = role.clone();
        fresh.options = set_options(fresh.options, requested);
        if fresh.options.get("immutable") == Some(&json!(true)) {
            check_mutable(&role, "update")?;
        }
        if let Some(name) = validation::text(requested, "name") {
            fresh.name = name;
        }
        if requested.contains_key("description") {
            fresh.description = validation::text(requested, "description");
        }
        let name_conflict = name_conflict(&fresh);
        state.roles.put(fresh.clone()).map_err(|_| name_conflict)?;
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "role": show_role(request, &role) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("delete_role", Target::default())?;
    request.identity.update(|state| {
        let role = find(state, request.param(0))?;
        check_mutable(&role, "delete")?;
        state.remove_role(&role.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn inferences(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("list_role_inference_rules", Target::default())?;
    let rules = request.identity.read(|state| {
        let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for rule in state.implications.iter() {
            rules.entry(&rule.prior).or_default().push(brief(request, state, &rule.implied));
        }
        let rendered = rules.into_iter().map(|(prior, implied)| {
            json!({ "prior_role": brief(request, state, prior), "implies": implied })
        });
        rendered.collect::<Vec<Value>>()
    });
    Ok(Reply::ok(json!({ "role_inferences": rules })))
}

pub(in super::super) fn implied(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("list_implied_roles", Target::default())?;
    let prior = request.param(0);
    let inference = request.identity.read(|state| {
        find(state, prior)?;
        let prefix = format!("{prior}/");
        let implied: Vec<Value> = state
            .implications
            .beginning(&prefix)
            .map(|rule| brief(request, state, &rule.implied))
            .collect();
        Ok::<Value, ApiError>(
            json!({ "prior_role": brief(request, state, prior), "implies": implied }),
        )
    })?;
    let links = json!({ "self": request.link(&format!("roles/{prior}/implies")) });
    Ok(Reply::ok(json!({ "role_inference": inference, "links": links })))
}

pub(in super::super) fn show_implied(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("get_implied_role", Target::default())?;
    request.identity.read(|state| rule(request, state))?;
    Ok(Reply::ok(inference(request)))
}

pub(in super::super) fn check_implied(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("check_implied_role", Target::default())?;
    request.identity.read(|state| rule(request, state))?;
    Ok(Reply::done())
}

pub(in super::super) fn imply(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("create_implied_role", Target::default())?;
    request.identity.update(|state| {
        let prior = find(state, request.param(0))?;
        let implied = find(state, request.param(1))?;
        // Otherwise a caller with this right could become an administrator.
        if implied.name == "admin" && implied.domain_id.is_none() {
            return Err(ApiError::refused(format!("{} cannot be an implied roles.", implied.id)));
        }
        let _ = state.implications.put(Implication { prior: prior.id, implied: implied.id });
        Ok(())
    })?;
    Ok(Reply::created(inference(request)))
}

pub(in super::super) fn stop_implying(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("delete_implied_role", Target::default())?;
    request.identity.update(|state| {
        let id = rule(request, state)?;
        state.implications.remove(&id);
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(super) fn show_role(request: &Request<'_>, role: &Role) -> Value {
    request.with_self_link(plain(role), "roles", &role.id)
}

/// Renders a role without links, for use in other documents.
pub(super) fn plain(role: &Role) -> Value {
    json!({
        "id": role.id, "name": role.name, "domain_id": role.domain_id,
        "description": role.description, "options": role.options,
    })
}

fn rule(request: &Request<'_>, state: &State) -> Result<String, ApiError> {
    let (prior, implied) = (request.param(0), request.param(1));
    let id = format!("{prior}/{implied}");
    if state.implications.has(&id) {
        return Ok(id);
    }
    Err(ApiError::not_found(format!("{prior} does not imply {implied}.")))
}

fn inference(request: &Request<'_>) -> Value {
    let (prior, implied) = (request.param(0), request.param(1));
    let rule = request.identity.read(|state| {
        json!({ "prior_role": brief(request, state, prior), "implies": brief(request, state, implied) })
    });
    let links = json!({ "self": request.link(&format!("roles/{prior}/implies/{implied}")) });
    json!({ "role_inference": rule, "links": links })
}

fn brief(request: &Request<'_>, state: &State, id: &str) -> Value {
    let name = state.roles.get(id).map_or("", |role| role.name.as_str());
    json!({ "id": id, "links": { "self": request.link(&format!("roles/{id}")) }, "name": name })
}

fn find(state: &State, id: &str) -> Result<Role, ApiError> {
    state.roles.get(id).cloned().ok_or_else(|| ApiError::missing("role", id))
}

fn name_conflict(role: &Role) -> ApiError {
    ApiError::conflict("role", format!("Duplicate entry found with name {}", role.name))
}

fn check_mutable(role: &Role, verb: &str) -> Result<(), ApiError> {
    if role.options.get("immutable") == Some(&json!(true)) {
        return Err(ApiError::refused(format!(
            "Unable to {verb} immutable role resource: `{}. Set resource option \"immutable\" to false first.",
            role.id
        )));
    }
    Ok(())
}
