//! `/v3/domains`.

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::Domain;
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::token::Subject;
use super::super::validation::{self, Field, FieldType};
use super::named_entity::NamedEntity;

const FIELDS: &[Field] = &[
    ("name", FieldType::Name(64), true),
    ("description", FieldType::Note, false),
    ("enabled", FieldType::Flag, false),
    ("options", FieldType::Options(&["immutable"]), false),
    ("tags", FieldType::Tags, false),
];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    caller.authorize("list_domains", Target::default())?;
    let rows = request.identity.read(|state| {
        let own = caller.scope_domain();
        let seen = state.domains.iter().filter(|domain| own.is_none_or(|own| domain.id == own));
        seen.map(|domain| show_domain(request, domain)).collect()
    });
    request.list("domains", rows, &["enabled", "name"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "domain", FIELDS)?;
    caller.authorize("create_domain", Target::default())?;
    let mut domain = Domain { id: new_id()?, ..Domain::default() };
    domain.initialize(requested);
    let rendered = show_domain(request, &domain);
    request.identity.update(|state| {
        let name_conflict = name_conflict(&domain);
        state.domains.add(domain).map_err(|_| name_conflict)
    })?;
    Ok(Reply::created(json!({ "domain": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let domain =
        request.identity.read(|state| find(state, request.param(0), &caller, "get_domain"))?;
    Ok(Reply::ok(json!({ "domain": show_domain(request, &domain) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let domain = request.identity.update(|state| {
        let domain = find(state, request.param(0), &caller, "update_domain")?;
        let requested = validation::non_empty_object(&request.body, "domain", &fields)?;
        let mut fresh = domain.clone();
        fresh.apply(requested);
        let name_conflict = name_conflict(&fresh);
        state.domains.put(fresh.clone()).map_err(|_| name_conflict)?;
        if domain.enabled && !fresh.enabled {
            revoke_all_tokens(request, state, &domain.id);
        }
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "domain": show_domain(request, &domain) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.update(|state| {
        let domain = find(state, request.param(0), &caller, "delete_domain")?;
        if domain.enabled {
            return Err(ApiError::refused(
                "Cannot delete a domain that is enabled, please disable it first.",
            ));
        }
        state.remove_domain(&domain.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Invalidates the tokens of the users and projects of a disabled domain, which stay invalid when it is enabled
/// again.
fn revoke_all_tokens(request: &Request<'_>, state: &mut State, domain: &str) {
    let users: Vec<String> = state.users.in_scope(domain).map(|user| user.id.clone()).collect();
    users
        .iter()
        .for_each(|user| state.revoke_user_tokens(user, request.now, request.token_expiry()));
    let projects: Vec<String> =
        state.projects.in_scope(domain).map(|project| project.id.clone()).collect();
    projects.iter().for_each(|project| {
        state.revoke_project_tokens(project, request.now, request.token_expiry())
    });
}

fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<Domain, ApiError> {
    let Some(domain) = state.domains.get(id) else {
        caller.authorize(rule, Target::default())?;
        return Err(ApiError::missing("domain", id));
    };
    caller.authorize(rule, Target { domains: &[&domain.id], ..Target::default() })?;
    Ok(domain.clone())
}

fn name_conflict(domain: &Domain) -> ApiError {
    ApiError::conflict(
        "project",
        format!(
            "it is not permitted to have two projects acting as domains with the same name: {}",
            domain.name
        ),
    )
}

pub(super) fn show_domain(request: &Request<'_>, domain: &Domain) -> Value {
    let mut rendered = domain.clone().render();
    rendered.insert("id".to_owned(), json!(domain.id));
    request.with_self_link(Value::Object(rendered), "domains", &domain.id)
}
