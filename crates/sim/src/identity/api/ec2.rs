//! EC2 keys: `/v3/users/{user}/credentials/OS-EC2`, and `/v3/ec2tokens`, which issues a token for a signed request.

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{Credential, Scope};
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::{Subject, TokenRequest};
use super::credentials::{allowed, delete_found, key_id, primary};
use super::issue::{body, issue};
use super::signature;

/// The maximal age of a signature in seconds.
const MAX_AGE_SECS: u64 = 15 * 60;

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    primary(&caller)?;
    let user = request.param(0);
    let rows = request.identity.read(|state| {
        allowed(state, &caller, user, "ec2_list_credentials")?;
        let own = state.credentials.iter();
        let own = own
            .filter(|credential| credential.credential_type == "ec2" && credential.user_id == user);
        Ok::<Vec<Value>, ApiError>(own.map(|credential| show_key(request, credential)).collect())
    })?;
    request.list("credentials", rows, &[])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    primary(&caller)?;
    let user = request.param(0);
    let project = request.body["tenant_id"].as_str().or(request.body["project_id"].as_str());
    let (access, secret) = (new_id()?, new_id()?);
    let blob = json!({ "access": access, "secret": secret, "trust_id": null });
    let rendered = request.identity.update(|state| {
        allowed(state, &caller, user, "ec2_create_credential")?;
        if !state.users.has(user) {
            return Err(ApiError::missing("user", user));
        }
        let missing = || ApiError::missing("project", project.unwrap_or("None"));
        let project = project.filter(|id| state.projects.has(id)).ok_or_else(missing)?;
        let credential = Credential {
            id: key_id(&access),
            credential_type: "ec2".to_owned(),
            user_id: user.to_owned(),
            project_id: Some(project.to_owned()),
            blob: blob.to_string(),
        };
        let rendered = show_key(request, &credential);
        let _ = state.credentials.put(credential);
        Ok(rendered)
    })?;
    Ok(Reply::created(json!({ "credential": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let credential =
        request.identity.read(|state| find(request, state, &caller, "ec2_get_credential"))?;
    Ok(Reply::ok(json!({ "credential": show_key(request, &credential) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    delete_found(request, |state, caller| find(request, state, caller, "ec2_delete_credential"))
}

/// Issues a token for the signer of the described request.
pub(in super::super) fn token(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("ec2tokens_validate", Target::default())?;
    if request.body.as_object().is_none_or(|body| body.is_empty()) {
        return Err(ApiError::bad("request must include a request body"));
    }
    let keys = ["credentials", "credential", "ec2Credentials"];
    let described =
        keys.iter().map(|key| &request.body[*key]).find(|described| described.is_object());
    let described = described.ok_or_else(ApiError::unauthorized)?;
    let access = described["access"].as_str().ok_or_else(ApiError::unauthorized)?;
    let (credential, secret) = request.identity.read(|state| key(state, access))?;
    if !signature::is_valid(&secret, described) || !is_fresh(described, request.now) {
        return Err(ApiError::unauthorized());
    }
    let token_request = TokenRequest {
        user: credential.user_id,
        methods: vec!["ec2credential".to_owned()],
        scope: Some(Scope::Project(credential.project_id.unwrap_or_default())),
        chain: None,
        expires: request.token_expiry(),
        trust: None,
        app_credential: None,
    };
    let (token, subject) = issue(request.identity, token_request, request.now)
        .map_err(|_| ApiError::unauthorized())?;
    let document = request.identity.read(|state| body(state, &subject, true));
    Ok(Reply::ok(document).with("x-subject-token", token))
}

/// Returns the credential with this access key, and its secret.
fn key(state: &State, access: &str) -> Result<(Credential, String), ApiError> {
    let unknown = || ApiError::not_found("EC2 access key not found.");
    let credential =
        state.credentials.get(&key_id(access)).filter(|found| found.credential_type == "ec2");
    let credential = credential.ok_or_else(unknown)?;
    let secret = part(credential, "secret");
    let secret = secret.as_str().ok_or_else(ApiError::unauthorized)?.to_owned();
    Ok((credential.clone(), secret))
}

/// Reports whether the signature is recent; a request without a timestamp does not expire.
fn is_fresh(described: &Value, now: Moment) -> bool {
    let when = [
        &described["params"]["Timestamp"],
        &described["headers"]["X-Amz-Date"],
        &described["params"]["X-Amz-Date"],
    ];
    match when.iter().find_map(|when| when.as_str().filter(|text| !text.is_empty())) {
        None => true,
        Some(text) => {
            Moment::read(text).is_some_and(|signed| signed.plus_seconds(MAX_AGE_SECS) >= now)
        }
    }
}

/// Finds a key and authorizes the caller; every caller learns that a key does not exist.
fn find(
    request: &Request<'_>,
    state: &State,
    caller: &Subject,
    rule: &str,
) -> Result<Credential, ApiError> {
    primary(caller)?;
    let id = key_id(request.param(1));
    let credential = state.credentials.get(&id).filter(|found| found.credential_type == "ec2");
    let credential = credential.ok_or_else(|| ApiError::missing("credential", &id))?;
    allowed(state, caller, &credential.user_id, rule)?;
    Ok(credential.clone())
}

fn part(credential: &Credential, name: &str) -> Value {
    let blob: Value = serde_json::from_str(&credential.blob).unwrap_or_default();
    blob[name].clone()
}

fn show_key(request: &Request<'_>, credential: &Credential) -> Value {
    let access = part(credential, "access");
    let rendered = json!({
        "user_id": credential.user_id, "tenant_id": credential.project_id, "access": access,
        "secret": part(credential, "secret"), "trust_id": null,
    });
    let collection = format!("users/{}/credentials/OS-EC2", credential.user_id);
    request.with_self_link(rendered, &collection, access.as_str().unwrap_or_default())
}
