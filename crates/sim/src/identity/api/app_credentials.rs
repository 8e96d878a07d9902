//! `/v3/users/{user}/application_credentials`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::AppCredential;
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::secret;
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::Subject;
use super::super::validation::{self, Field, FieldType};
use super::roles::plain;

const FIELDS: &[Field] = &[
    ("name", FieldType::Name(255), true),
    ("description", FieldType::Note, false),
    ("expires_at", FieldType::Note, false),
    ("project_id", FieldType::Note, false),
    ("roles", FieldType::Objects, false),
    ("secret", FieldType::Note, false),
    ("unrestricted", FieldType::Switch, false),
];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    allowed(request, &caller, "list_application_credentials", false)?;
    let rows = request.identity.read(|state| {
        let own = state.app_credentials.in_scope(request.param(0));
        own.map(|credential| show_credential(request, state, credential)).collect()
    });
    request.list("application_credentials", rows, &["name"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "application_credential", FIELDS)?;
    allowed(request, &caller, "create_application_credential", true)?;
    if requested.get("access_rules").is_some_and(|rules| !rules.is_null() && *rules != json!([])) {
        return Err(ApiError::bad("Access rules are not supported by this identity service."));
    }
    let expires_at = expiry(requested, request.now)?;
    let secret = match validation::text(requested, "secret") {
        Some(secret) => secret,
        None => secret::long_secret()?,
    };
    let roles = request.identity.read(|state| roles(state, &caller, requested))?;
    let credential = AppCredential {
        id: new_id()?,
        user_id: caller.user.id.clone(),
        project_id: caller.project.as_ref().map(|project| project.id.clone()),
        name: validation::text(requested, "name").unwrap_or_default(),
        description: validation::text(requested, "description"),
        secret: secret::hash_password(&secret)?,
        roles,
        expires_at,
        unrestricted: validation::flag(requested, "unrestricted"),
    };
    let mut rendered = request.identity.update(|state| {
        let rendered = show_credential(request, state, &credential);
        let taken = format!("Duplicate entry found with name {}", credential.name);
        let name_conflict = |_| ApiError::conflict("application_credential", taken);
        state.app_credentials.add(credential).map_err(name_conflict)?;
        Ok(rendered)
    })?;
    rendered["secret"] = json!(secret);
    Ok(Reply::created(json!({ "application_credential": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    allowed(request, &caller, "get_application_credential", false)?;
    let rendered = request
        .identity
        .read(|state| find(request, state).map(|found| show_credential(request, state, &found)))?;
    Ok(Reply::ok(json!({ "application_credential": rendered })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    allowed(request, &caller, "delete_application_credential", true)?;
    request.identity.update(|state| {
        let credential = find(request, state)?;
        state.app_credentials.remove(&credential.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Authorizes the caller. A delegated token must not create application credentials, unless it comes from an
/// unrestricted one.
fn allowed(
    request: &Request<'_>,
    caller: &Subject,
    rule: &str,
    changes: bool,
) -> Result<(), ApiError> {
    caller.authorize(rule, Target { users: &[request.param(0)], ..Target::default() })?;
    match &caller.app_credential {
        Some(credential) if changes && credential.unrestricted != Some(true) => {
            Err(ApiError::forbidden(
                "Using method 'application_credential' is not allowed for managing additional application credentials.",
            ))
        }
        Some(_) => Ok(()),
        None if caller.is_delegated() => Err(ApiError::forbidden("")),
        None => Ok(()),
    }
}

/// Returns the expiry that the request sets.
pub(super) fn expiry(
    requested: &Map<String, Value>,
    now: Moment,
) -> Result<Option<Moment>, ApiError> {
    let Some(text) = validation::text(requested, "expires_at") else { return Ok(None) };
    let end = Moment::read(&text)
        .ok_or_else(|| ApiError::malformed("Timestamp not in expected format."))?;
    if end <= now {
        return Err(ApiError::malformed("The 'expires_at' must not be before now."));
    }
    Ok(Some(end))
}

/// Finds a role by the id or the name in a request.
pub(super) fn named_role(state: &State, role: &Value) -> Result<String, ApiError> {
    if let Some(id) = role["id"].as_str() {
        return Ok(id.to_owned());
    }
    let name = role["name"].as_str().ok_or_else(|| ApiError::expecting("id or name", "role"))?;
    let missing = || ApiError::not_found(format!("Role {name} is not defined"));
    Ok(state.role_named(name).ok_or_else(missing)?.id.clone())
}

/// Returns the requested roles with their implied roles, or all roles of the caller.
fn roles(
    state: &State,
    caller: &Subject,
    requested: &Map<String, Value>,
) -> Result<Vec<String>, ApiError> {
    let held: BTreeSet<String> = caller.roles.iter().map(|role| role.id.clone()).collect();
    let wanted =
        match requested.get("roles").and_then(Value::as_array).filter(|roles| !roles.is_empty()) {
            None => return Ok(held.into_iter().collect()),
            Some(roles) => roles
                .iter()
                .map(|role| named_role(state, role))
                .collect::<Result<BTreeSet<_>, _>>()?,
        };
    if !wanted.is_subset(&held) {
        return Err(ApiError::bad(
            "Invalid application credential: Cannot create an application credential with unassigned role",
        ));
    }
    Ok(state.with_implied(wanted).into_iter().collect())
}

fn find(request: &Request<'_>, state: &State) -> Result<AppCredential, ApiError> {
    let (user, id) = (request.param(0), request.param(1));
    let found = state.app_credentials.get(id).filter(|credential| credential.user_id == user);
    found.cloned().ok_or_else(|| ApiError::missing("Application Credential", id))
}

fn show_credential(request: &Request<'_>, state: &State, credential: &AppCredential) -> Value {
    let roles: Vec<Value> =
        credential.roles.iter().filter_map(|id| state.roles.get(id)).map(plain).collect();
    let rendered = json!({
        "id": credential.id, "name": credential.name, "description": credential.description,
        "user_id": credential.user_id, "project_id": credential.project_id, "system": null,
        "expires_at": credential.expires_at.map(Moment::naive),
        "unrestricted": credential.unrestricted, "roles": roles,
    });
    let collection = format!("users/{}/application_credentials", credential.user_id);
    request.with_self_link(rendered, &collection, &credential.id)
}
