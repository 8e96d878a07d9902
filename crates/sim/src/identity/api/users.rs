//! `/v3/users`.

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::User;
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::secret;
use super::super::seed::DEFAULT_DOMAIN;
use super::super::state::State;
use super::super::token::Subject;
use super::super::validation::{self, Field, FieldType};
use super::groups::show_group;
use super::projects::of_user;

const OPTIONS: &[&str] = &[
    "ignore_change_password_upon_first_use",
    "ignore_lockout_failure_attempts",
    "ignore_password_expiry",
    "ignore_user_inactivity",
    "lock_password",
    "multi_factor_auth_enabled",
    "multi_factor_auth_rules",
];

const FIELDS: &[Field] = &[
    ("name", FieldType::Name(255), true),
    ("default_project_id", FieldType::Note, false),
    ("description", FieldType::Note, false),
    ("domain_id", FieldType::Text, false),
    ("enabled", FieldType::Flag, false),
    ("options", FieldType::Options(OPTIONS), false),
    ("password", FieldType::Note, false),
];

/// The fields of a request that are not stored in `extra`.
const KNOWN: &[&str] =
    &["default_project_id", "domain_id", "enabled", "id", "links", "name", "options", "password"];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    caller.authorize("list_users", Target::default())?;
    let rows = request.identity.read(|state| {
        let own = caller.scope_domain();
        let seen = candidates(request, state)
            .into_iter()
            .filter(|user| own.is_none_or(|own| user.domain_id == own));
        seen.map(|user| show_user(request, user)).collect()
    });
    request.list("users", rows, &["domain_id", "enabled", "name"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "user", FIELDS)?;
    let domain = home_domain(&caller, requested);
    caller.authorize("create_user", Target { domains: &[&domain], ..Target::default() })?;
    let name = validation::text(requested, "name").unwrap_or_default();
    let password =
        validation::text(requested, "password").map(|password| secret::hash_password(&password));
    let user = User {
        id: new_id()?,
        domain_id: domain,
        name,
        enabled: validation::flag(requested, "enabled").unwrap_or(true),
        password: password.transpose()?,
        default_project_id: validation::text(requested, "default_project_id"),
        options: set_options(Map::new(), requested),
        extra: validation::extra_fields(requested, KNOWN),
        epoch: 0,
    };
    let rendered = show_user(request, &user);
    request.identity.update(|state| {
        if !state.domains.has(&user.domain_id) {
            return Err(ApiError::missing("domain", &user.domain_id));
        }
        let taken = format!(
            "Duplicate entry found with name {} at domain ID {}",
            user.name, user.domain_id
        );
        state.users.add(user).map_err(|_| ApiError::conflict("user", taken))
    })?;
    Ok(Reply::created(json!({ "user": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let user = request.identity.read(|state| find(state, request.param(0), &caller, "get_user"))?;
    Ok(Reply::ok(json!({ "user": show_user(request, &user) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.read(|state| find(state, request.param(0), &caller, "update_user"))?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let requested = validation::non_empty_object(&request.body, "user", &fields)?;
    // The hash is computed before the lock is taken, because it is slow.
    let password = match requested.get("password") {
        None => None,
        Some(password) => Some(password.as_str().map(secret::hash_password).transpose()?),
    };
    let user = request.identity.update(|state| {
        let user = find(state, request.param(0), &caller, "update_user")?;
        let fresh = changed(&user, requested, password.clone())?;
        let taken = format!("Duplicate entry found with name {}", fresh.name);
        let void = password.is_some() || (user.enabled && !fresh.enabled);
        state.users.put(fresh.clone()).map_err(|_| ApiError::conflict("user", taken))?;
        if void {
            state.revoke_user_tokens(&user.id, request.now, request.token_expiry());
        }
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "user": show_user(request, &user) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.update(|state| {
        let user = find(state, request.param(0), &caller, "delete_user")?;
        state.revoke_user_tokens(&user.id, request.now, request.token_expiry());
        state.remove_user(&user.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Changes a password. The old password is required, but no token.
pub(in super::super) fn change_password(request: &Request<'_>) -> Answer {
    let fields =
        [("original_password", FieldType::Text, true), ("password", FieldType::Text, true)];
    let requested = validation::object(&request.body, "user", &fields)?;
    let (old, new) =
        (validation::text(requested, "original_password"), validation::text(requested, "password"));
    let (old, new) = old.zip(new).ok_or_else(ApiError::unauthorized)?;
    let user = request.identity.read(|state| state.users.get(request.param(0)).cloned());
    let hash = user.as_ref().filter(|user| user.enabled).and_then(|user| user.password.as_deref());
    if !secret::password_is(&old, hash) {
        return Err(ApiError::unauthorized());
    }
    let password = secret::hash_password(&new)?;
    request.identity.update(|state| {
        let user = state.users.get(request.param(0)).ok_or_else(ApiError::unauthorized)?;
        let user = User { password: Some(password), ..user.clone() };
        let id = user.id.clone();
        let _ = state.users.put(user);
        state.revoke_user_tokens(&id, request.now, request.token_expiry());
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn projects(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let user = request
        .identity
        .read(|state| find(state, request.param(0), &caller, "list_user_projects"))?;
    request.list("projects", of_user(request, &user.id), &["domain_id", "enabled", "name"])
}

pub(in super::super) fn groups(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let rows = request.identity.read(|state| {
        let user = find(state, request.param(0), &caller, "list_groups_for_user")?;
        let groups = state.groups_of(&user.id).map(|group| show_group(request, group));
        Ok::<Vec<Value>, ApiError>(groups.collect())
    })?;
    request.list("groups", rows, &["name"])
}

/// Returns the domain of a new record: the requested one, or that of the caller.
pub(super) fn home_domain(caller: &Subject, requested: &Map<String, Value>) -> String {
    let requested_domain = validation::text(requested, "domain_id");
    let own = || match (caller.scope_domain(), &caller.project) {
        (Some(own), _) => own.to_owned(),
        (None, Some(project)) => project.domain_id.clone(),
        (None, None) => DEFAULT_DOMAIN.to_owned(),
    };
    requested_domain.unwrap_or_else(own)
}

/// Merges the options of a request; null removes an option.
pub(super) fn set_options(
    mut options: Map<String, Value>,
    requested: &Map<String, Value>,
) -> Map<String, Value> {
    for (name, value) in requested.get("options").and_then(Value::as_object).into_iter().flatten() {
        if value.is_null() {
            options.shift_remove(name);
        } else {
            options.insert(name.clone(), value.clone());
        }
    }
    options
}

/// Finds a user and authorizes the caller. Only an authorized caller learns that a user does not exist.
fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<User, ApiError> {
    let Some(user) = state.users.get(id) else {
        caller.authorize(rule, Target::default())?;
        return Err(ApiError::missing("user", id));
    };
    caller.authorize(
        rule,
        Target { domains: &[&user.domain_id], users: &[&user.id], project: None },
    )?;
    Ok(user.clone())
}

/// Returns the users that may match the query; at most one if it has a domain and a name.
fn candidates<'a>(request: &Request<'_>, state: &'a State) -> Vec<&'a User> {
    match (request.query("domain_id"), request.query("name")) {
        (Some(domain), Some(name)) => state.users.named(domain, name).into_iter().collect(),
        (Some(domain), None) => state.users.in_scope(domain).collect(),
        _ => state.users.iter().collect(),
    }
}

fn changed(
    user: &User,
    requested: &Map<String, Value>,
    password: Option<Option<String>>,
) -> Result<User, ApiError> {
    let differs = |field: &str, now: &str| {
        requested.get(field).is_some_and(|value| value.as_str() != Some(now))
    };
    if differs("id", &user.id) {
        return Err(ApiError::bad("Cannot change ID"));
    }
    if differs("domain_id", &user.domain_id) {
        return Err(ApiError::bad("Cannot change Domain ID"));
    }
    let mut fresh = user.clone();
    if let Some(name) = validation::text(requested, "name") {
        fresh.name = name;
    }
    if let Some(enabled) = validation::flag(requested, "enabled") {
        fresh.enabled = enabled;
    }
    if requested.contains_key("default_project_id") {
        fresh.default_project_id = validation::text(requested, "default_project_id");
    }
    if let Some(password) = password {
        fresh.password = password;
    }
    fresh.options = set_options(fresh.options, requested);
    fresh.extra.extend(validation::extra_fields(requested, KNOWN));
    Ok(fresh)
}

pub(super) fn show_user(request: &Request<'_>, user: &User) -> Value {
    let mut rendered = user.extra.clone();
    let mut set = |key: &str, value: Value| rendered.insert(key.to_owned(), value);
    set("id", json!(user.id));
    set("name", json!(user.name));
    set("domain_id", json!(user.domain_id));
    set("enabled", json!(user.enabled));
    if let Some(project) = &user.default_project_id {
        set("default_project_id", json!(project));
    }
    set("password_expires_at", Value::Null);
    set("options", json!(user.options));
    request.with_self_link(Value::Object(rendered), "users", &user.id)
}
