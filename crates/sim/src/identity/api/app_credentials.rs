//! `/v3/users/{user}/application_credentials`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::AppCredential;
use super::super::rights::Target;
use super::super::secret;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::Subject;
use super::roles::plain;

const FIELDS: &[Field] = &[
    ("name", Kind::Name(255), true),
    ("description", Kind::Note, false),
    ("expires_at", Kind::Note, false),
    ("project_id", Kind::Note, false),
    ("roles", Kind::Objects, false),
    ("secret", Kind::Note, false),
    ("unrestricted", Kind::Switch, false),
];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    allowed(ask, &caller, "list_application_credentials", false)?;
    let rows = ask.identity.look(|state| {
        let own = state.app_credentials.in_scope(ask.param(0));
        own.map(|credential| show_credential(ask, state, credential)).collect()
    });
    ask.list("application_credentials", rows, &["name"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "application_credential", FIELDS)?;
    allowed(ask, &caller, "create_application_credential", true)?;
    if asked.get("access_rules").is_some_and(|rules| !rules.is_null() && *rules != json!([])) {
        return Err(Problem::bad("Access rules are not supported by this identity service."));
    }
    let expires_at = expiry(asked, ask.now)?;
    let secret = match shape::text(asked, "secret") {
        Some(secret) => secret,
        None => secret::long_secret()?,
    };
    let roles = ask.identity.look(|state| roles(state, &caller, asked))?;
    let credential = AppCredential {
        id: new_id()?,
        user_id: caller.user.id.clone(),
        project_id: caller.project.as_ref().map(|project| project.id.clone()),
        name: shape::text(asked, "name").unwrap_or_default(),
        description: shape::text(asked, "description"),
        secret: secret::hash_password(&secret)?,
        roles,
        expires_at,
        unrestricted: shape::flag(asked, "unrestricted"),
    };
    let mut shown = ask.identity.change(|state| {
        let shown = show_credential(ask, state, &credential);
        let taken = format!("Duplicate entry found with name {}", credential.name);
        let clash = |_| Problem::conflict("application_credential", taken);
        state.app_credentials.add(credential).map_err(clash)?;
        Ok(shown)
    })?;
    shown["secret"] = json!(secret);
    Ok(Reply::created(json!({ "application_credential": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    allowed(ask, &caller, "get_application_credential", false)?;
    let shown = ask
        .identity
        .look(|state| find(ask, state).map(|found| show_credential(ask, state, &found)))?;
    Ok(Reply::ok(json!({ "application_credential": shown })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    allowed(ask, &caller, "delete_application_credential", true)?;
    ask.identity.change(|state| {
        let credential = find(ask, state)?;
        state.app_credentials.remove(&credential.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Whoever holds something delegated must not make something lasting out of it; an application credential may if it
/// was made for that.
fn allowed(ask: &Ask<'_>, caller: &Subject, rule: &str, changes: bool) -> Result<(), Problem> {
    caller.may(rule, Target { users: &[ask.param(0)], ..Target::default() })?;
    match &caller.app_credential {
        Some(credential) if changes && credential.unrestricted != Some(true) => {
            Err(Problem::forbidden(
                "Using method 'application_credential' is not allowed for managing additional application credentials.",
            ))
        }
        Some(_) => Ok(()),
        None if caller.is_delegated() => Err(Problem::forbidden("")),
        None => Ok(()),
    }
}

/// When something ends, if the request says so.
pub(super) fn expiry(asked: &Map<String, Value>, now: Moment) -> Result<Option<Moment>, Problem> {
    let Some(text) = shape::text(asked, "expires_at") else { return Ok(None) };
    let end = Moment::read(&text)
        .ok_or_else(|| Problem::malformed("Timestamp not in expected format."))?;
    if end <= now {
        return Err(Problem::malformed("The 'expires_at' must not be before now."));
    }
    Ok(Some(end))
}

/// A role that a request names by id or by name.
pub(super) fn named_role(state: &State, role: &Value) -> Result<String, Problem> {
    if let Some(id) = role["id"].as_str() {
        return Ok(id.to_owned());
    }
    let name = role["name"].as_str().ok_or_else(|| Problem::expecting("id or name", "role"))?;
    let missing = || Problem::not_found(format!("Role {name} is not defined"));
    Ok(state.role_named(name).ok_or_else(missing)?.id.clone())
}

/// The roles asked for with what they imply, or all that the caller has.
fn roles(
    state: &State,
    caller: &Subject,
    asked: &Map<String, Value>,
) -> Result<Vec<String>, Problem> {
    let held: BTreeSet<String> = caller.roles.iter().map(|role| role.id.clone()).collect();
    let wanted =
        match asked.get("roles").and_then(Value::as_array).filter(|roles| !roles.is_empty()) {
            None => return Ok(held.into_iter().collect()),
            Some(roles) => roles
                .iter()
                .map(|role| named_role(state, role))
                .collect::<Result<BTreeSet<_>, _>>()?,
        };
    if !wanted.is_subset(&held) {
        return Err(Problem::bad(
            "Invalid application credential: Cannot create an application credential with unassigned role",
        ));
    }
    Ok(state.with_implied(wanted).into_iter().collect())
}

fn find(ask: &Ask<'_>, state: &State) -> Result<AppCredential, Problem> {
    let (user, id) = (ask.param(0), ask.param(1));
    let found = state.app_credentials.get(id).filter(|credential| credential.user_id == user);
    found.cloned().ok_or_else(|| Problem::missing("Application Credential", id))
}

fn show_credential(ask: &Ask<'_>, state: &State, credential: &AppCredential) -> Value {
    let roles: Vec<Value> =
        credential.roles.iter().filter_map(|id| state.roles.get(id)).map(plain).collect();
    let shown = json!({
        "id": credential.id, "name": credential.name, "description": credential.description,
        "user_id": credential.user_id, "project_id": credential.project_id, "system": null,
        "expires_at": credential.expires_at.map(Moment::naive),
        "unrestricted": credential.unrestricted, "roles": roles,
    });
    let collection = format!("users/{}/application_credentials", credential.user_id);
    ask.linked(shown, &collection, &credential.id)
}
