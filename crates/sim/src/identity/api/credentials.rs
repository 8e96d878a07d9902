//! `/v3/credentials`: what users want kept, EC2 keys among it.

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::Credential;
use super::super::rights::Target;
use super::super::secret;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::super::token::Subject;

const FIELDS: &[Field] = &[
    ("blob", Kind::Text, true),
    ("type", Kind::Text, true),
    ("project_id", Kind::Note, false),
    ("user_id", Kind::Text, false),
];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    primary(&caller)?;
    caller.may("list_credentials", Target::default())?;
    let rows = ask.identity.look(|state| {
        let seen = state.credentials.iter().filter(|credential| {
            allowed(state, &caller, &credential.user_id, "get_credential").is_ok()
        });
        seen.map(|credential| show_credential(ask, credential)).collect()
    });
    ask.list("credentials", rows, &["type", "user_id"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    primary(&caller)?;
    let asked = shape::object(&ask.body, "credential", FIELDS)?;
    let kind = shape::text(asked, "type").unwrap_or_default();
    let blob = shape::text(asked, "blob").unwrap_or_default();
    let project_id = shape::text(asked, "project_id");
    let id = if kind == "ec2" {
        if project_id.is_none() {
            let why = "'project_id' is a required property";
            return Err(shape::invalid("credential", &ask.body["credential"], why));
        }
        key_id(&access(&blob)?)
    } else {
        new_id()?
    };
    let user_id = shape::text(asked, "user_id").unwrap_or_else(|| caller.user.id.clone());
    let credential = Credential { id, kind, user_id, project_id, blob };
    let shown = show_credential(ask, &credential);
    ask.identity.change(|state| {
        allowed(state, &caller, &credential.user_id, "create_credential")?;
        if !state.users.has(&credential.user_id) {
            return Err(Problem::missing("user", &credential.user_id));
        }
        let taken = format!("Duplicate entry found with ID {}", credential.id);
        state.credentials.add(credential).map_err(|_| Problem::conflict("credential", taken))
    })?;
    Ok(Reply::created(json!({ "credential": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let credential = ask.identity.look(|state| find(ask, state, &caller, "get_credential"))?;
    Ok(Reply::ok(json!({ "credential": show_credential(ask, &credential) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let credential = ask.identity.change(|state| {
        let credential = find(ask, state, &caller, "update_credential")?;
        let asked = shape::change(&ask.body, "credential", &fields)?;
        let fresh = changed(credential, asked)?;
        let _ = state.credentials.put(fresh.clone());
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "credential": show_credential(ask, &credential) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let credential = find(ask, state, &caller, "delete_credential")?;
        state.credentials.remove(&credential.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// The id of the credential with this access key.
pub(super) fn key_id(access: &str) -> String {
    secret::sha256_hex(access.as_bytes())
}

/// Secrets are for those who logged in themselves.
pub(super) fn primary(caller: &Subject) -> Result<(), Problem> {
    if caller.is_delegated() {
        return Err(Problem::forbidden("Delegated tokens cannot access credentials directly"));
    }
    Ok(())
}

/// Whether the caller may do this with what belongs to the user.
pub(super) fn allowed(
    state: &State,
    caller: &Subject,
    user: &str,
    rule: &str,
) -> Result<(), Problem> {
    let domain = state.users.get(user).map(|user| user.domain_id.as_str());
    caller.may(rule, Target { domains: domain.as_slice(), users: &[user], project: None })
}

fn find(ask: &Ask<'_>, state: &State, caller: &Subject, rule: &str) -> Result<Credential, Problem> {
    primary(caller)?;
    let id = ask.param(0);
    let Some(credential) = state.credentials.get(id) else {
        caller.may(rule, Target::default())?;
        return Err(Problem::missing("credential", id));
    };
    allowed(state, caller, &credential.user_id, rule)?;
    Ok(credential.clone())
}

/// The access key in the blob of an EC2 credential.
fn access(blob: &str) -> Result<String, Problem> {
    let invalid = || Problem::bad("Invalid blob in credential");
    let blob: Value = serde_json::from_str(blob).map_err(|_| invalid())?;
    let blob = blob.as_object().ok_or_else(invalid)?;
    shape::text(blob, "access").ok_or_else(|| Problem::expecting("blob", "credential"))
}

/// What was sent replaces what was there. The owner stays, and so does the id, which for an EC2 key says what its access key is.
fn changed(mut credential: Credential, asked: &Map<String, Value>) -> Result<Credential, Problem> {
    let differs =
        |field: &str, now: &str| asked.get(field).is_some_and(|value| value.as_str() != Some(now));
    if differs("user_id", &credential.user_id) {
        return Err(Problem::bad("Cannot change the user of a credential."));
    }
    if let Some(kind) = shape::text(asked, "type") {
        credential.kind = kind;
    }
    if let Some(blob) = shape::text(asked, "blob") {
        credential.blob = blob;
    }
    if asked.contains_key("project_id") {
        credential.project_id = shape::text(asked, "project_id");
    }
    if credential.kind == "ec2" && key_id(&access(&credential.blob)?) != credential.id {
        return Err(Problem::bad("The access key of an EC2 credential cannot be changed."));
    }
    Ok(credential)
}

fn show_credential(ask: &Ask<'_>, credential: &Credential) -> Value {
    let shown = json!({
        "id": credential.id, "user_id": credential.user_id, "project_id": credential.project_id,
        "type": credential.kind, "blob": credential.blob,
    });
    ask.linked(shown, "credentials", &credential.id)
}
