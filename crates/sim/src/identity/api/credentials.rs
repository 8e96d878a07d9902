//! `/v3/credentials`, including EC2 keys.

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::Credential;
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::secret;
use super::super::state::State;
use super::super::token::Subject;
use super::super::validation::{self, Field, FieldType};

const FIELDS: &[Field] = &[
    ("blob", FieldType::Text, true),
    ("type", FieldType::Text, true),
    ("project_id", FieldType::Note, false),
    ("user_id", FieldType::Text, false),
];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    primary(&caller)?;
    caller.authorize("list_credentials", Target::default())?;
    let rows = request.identity.read(|state| {
        let seen = state.credentials.iter().filter(|credential| {
            allowed(state, &caller, &credential.user_id, "get_credential").is_ok()
        });
        seen.map(|credential| show_credential(request, credential)).collect()
    });
    request.list("credentials", rows, &["type", "user_id"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    primary(&caller)?;
    let requested = validation::object(&request.body, "credential", FIELDS)?;
    let kind = validation::text(requested, "type").unwrap_or_default();
    let blob = validation::text(requested, "blob").unwrap_or_default();
    let project_id = validation::text(requested, "project_id");
    let id = if kind == "ec2" {
        if project_id.is_none() {
            let why = "'project_id' is a required property";
            return Err(validation::invalid("credential", &request.body["credential"], why));
        }
        key_id(&access(&blob)?)
    } else {
        new_id()?
    };
    let user_id = validation::text(requested, "user_id").unwrap_or_else(|| caller.user.id.clone());
    let credential = Credential { id, credential_type: kind, user_id, project_id, blob };
    let rendered = show_credential(request, &credential);
    request.identity.update(|state| {
        allowed(state, &caller, &credential.user_id, "create_credential")?;
        if !state.users.has(&credential.user_id) {
            return Err(ApiError::missing("user", &credential.user_id));
        }
        let taken = format!("Duplicate entry found with ID {}", credential.id);
        state.credentials.add(credential).map_err(|_| ApiError::conflict("credential", taken))
    })?;
    Ok(Reply::created(json!({ "credential": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let credential =
        request.identity.read(|state| find(request, state, &caller, "get_credential"))?;
    Ok(Reply::ok(json!({ "credential": show_credential(request, &credential) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let credential = request.identity.update(|state| {
        let credential = find(request, state, &caller, "update_credential")?;
        let requested = validation::non_empty_object(&request.body, "credential", &fields)?;
        let fresh = changed(credential, requested)?;
        let _ = state.credentials.put(fresh.clone());
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "credential": show_credential(request, &credential) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    delete_found(request, |state, caller| find(request, state, caller, "delete_credential"))
}

/// Deletes the credential that `find` returns after it has authorized the caller.
pub(super) fn delete_found(
    request: &Request<'_>,
    find: impl FnOnce(&State, &Subject) -> Result<Credential, ApiError>,
) -> Answer {
    let caller = request.caller()?;
    request.identity.update(|state| {
        let credential = find(state, &caller)?;
        state.credentials.remove(&credential.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Returns the id of the credential with this access key.
pub(super) fn key_id(access: &str) -> String {
    secret::sha256_hex(access.as_bytes())
}

/// Rejects delegated tokens, which have no access to secrets.
pub(super) fn primary(caller: &Subject) -> Result<(), ApiError> {
    if caller.is_delegated() {
        return Err(ApiError::forbidden("Delegated tokens cannot access credentials directly"));
    }
    Ok(())
}

/// Authorizes the caller for the records of a user.
pub(super) fn allowed(
    state: &State,
    caller: &Subject,
    user: &str,
    rule: &str,
) -> Result<(), ApiError> {
    let domain = state.users.get(user).map(|user| user.domain_id.as_str());
    caller.authorize(rule, Target { domains: domain.as_slice(), users: &[user], project: None })
}

fn find(
    request: &Request<'_>,
    state: &State,
    caller: &Subject,
    rule: &str,
) -> Result<Credential, ApiError> {
    primary(caller)?;
    let id = request.param(0);
    let Some(credential) = state.credentials.get(id) else {
        caller.authorize(rule, Target::default())?;
        return Err(ApiError::missing("credential", id));
    };
    allowed(state, caller, &credential.user_id, rule)?;
    Ok(credential.clone())
}

/// Returns the access key in the blob of an EC2 credential.
fn access(blob: &str) -> Result<String, ApiError> {
    let invalid = || ApiError::bad("Invalid blob in credential");
    let blob: Value = serde_json::from_str(blob).map_err(|_| invalid())?;
    let blob = blob.as_object().ok_or_else(invalid)?;
    validation::text(blob, "access").ok_or_else(|| ApiError::expecting("blob", "credential"))
}

/// Applies an update. The owner and the id stay the same; the id of an EC2 key is derived from its access key.
fn changed(
    mut credential: Credential,
    requested: &Map<String, Value>,
) -> Result<Credential, ApiError> {
    let differs = |field: &str, now: &str| {
        requested.get(field).is_some_and(|value| value.as_str() != Some(now))
    };
    if differs("user_id", &credential.user_id) {
        return Err(ApiError::bad("Cannot change the user of a credential."));
    }
    if let Some(kind) = validation::text(requested, "type") {
        credential.credential_type = kind;
    }
    if let Some(blob) = validation::text(requested, "blob") {
        credential.blob = blob;
    }
    if requested.contains_key("project_id") {
        credential.project_id = validation::text(requested, "project_id");
    }
    if credential.credential_type == "ec2" && key_id(&access(&credential.blob)?) != credential.id {
        return Err(ApiError::bad("The access key of an EC2 credential cannot be changed."));
    }
    Ok(credential)
}

fn show_credential(request: &Request<'_>, credential: &Credential) -> Value {
    let rendered = json!({
        "id": credential.id, "user_id": credential.user_id, "project_id": credential.project_id,
        "type": credential.credential_type, "blob": credential.blob,
    });
    request.with_self_link(rendered, "credentials", &credential.id)
}
