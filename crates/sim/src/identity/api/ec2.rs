//! EC2 keys: `/v3/users/{user}/credentials/OS-EC2`, and `/v3/ec2tokens`, which makes a token of a signed request.

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::{Credential, Place};
use super::super::rights::Target;
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::{Grantee, Subject};
use super::credentials::{allowed, key_id, primary};
use super::issue::{body, issue};
use super::signature;

/// A signature is good for so many seconds.
const FRESH: u64 = 15 * 60;

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    primary(&caller)?;
    let user = ask.param(0);
    let rows = ask.identity.look(|state| {
        allowed(state, &caller, user, "ec2_list_credentials")?;
        let own = state.credentials.iter();
        let own = own.filter(|credential| credential.kind == "ec2" && credential.user_id == user);
        Ok::<Vec<Value>, Problem>(own.map(|credential| show_key(ask, credential)).collect())
    })?;
    ask.list("credentials", rows, &[])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    primary(&caller)?;
    let user = ask.param(0);
    let project = ask.body["tenant_id"].as_str().or(ask.body["project_id"].as_str());
    let (access, secret) = (new_id()?, new_id()?);
    let blob = json!({ "access": access, "secret": secret, "trust_id": null });
    let shown = ask.identity.change(|state| {
        allowed(state, &caller, user, "ec2_create_credential")?;
        if !state.users.has(user) {
            return Err(Problem::missing("user", user));
        }
        let missing = || Problem::missing("project", project.unwrap_or("None"));
        let project = project.filter(|id| state.projects.has(id)).ok_or_else(missing)?;
        let credential = Credential {
            id: key_id(&access),
            kind: "ec2".to_owned(),
            user_id: user.to_owned(),
            project_id: Some(project.to_owned()),
            blob: blob.to_string(),
        };
        let shown = show_key(ask, &credential);
        let _ = state.credentials.put(credential);
        Ok(shown)
    })?;
    Ok(Reply::created(json!({ "credential": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let credential = ask.identity.look(|state| find(ask, state, &caller, "ec2_get_credential"))?;
    Ok(Reply::ok(json!({ "credential": show_key(ask, &credential) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let credential = find(ask, state, &caller, "ec2_delete_credential")?;
        state.credentials.remove(&credential.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// A token for whoever signed the request that a service describes.
pub(in super::super) fn token(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("ec2tokens_validate", Target::default())?;
    if ask.body.as_object().is_none_or(|body| body.is_empty()) {
        return Err(Problem::bad("request must include a request body"));
    }
    let keys = ["credentials", "credential", "ec2Credentials"];
    let said = keys.iter().map(|key| &ask.body[*key]).find(|said| said.is_object());
    let said = said.ok_or_else(Problem::unauthorized)?;
    let access = said["access"].as_str().ok_or_else(Problem::unauthorized)?;
    let (credential, secret) = ask.identity.look(|state| key(state, access))?;
    if !signature::is_right(&secret, said) || !is_fresh(said, ask.now) {
        return Err(Problem::unauthorized());
    }
    let who = Grantee {
        user: credential.user_id,
        methods: vec!["ec2credential".to_owned()],
        scope: Some(Place::Project(credential.project_id.unwrap_or_default())),
        chain: None,
        expires: ask.horizon(),
        trust: None,
        app_credential: None,
    };
    let (token, subject) =
        issue(ask.identity, who, ask.now).map_err(|_| Problem::unauthorized())?;
    let told = ask.identity.look(|state| body(state, &subject, true));
    Ok(Reply::ok(told).with("x-subject-token", token))
}

/// The credential with this access key, and its secret.
fn key(state: &State, access: &str) -> Result<(Credential, String), Problem> {
    let unknown = || Problem::not_found("EC2 access key not found.");
    let credential = state.credentials.get(&key_id(access)).filter(|found| found.kind == "ec2");
    let credential = credential.ok_or_else(unknown)?;
    let secret = part(credential, "secret");
    let secret = secret.as_str().ok_or_else(Problem::unauthorized)?.to_owned();
    Ok((credential.clone(), secret))
}

/// A request that does not say when it was signed was meant to be good for ever.
fn is_fresh(said: &Value, now: Moment) -> bool {
    let when = [
        &said["params"]["Timestamp"],
        &said["headers"]["X-Amz-Date"],
        &said["params"]["X-Amz-Date"],
    ];
    match when.iter().find_map(|when| when.as_str().filter(|text| !text.is_empty())) {
        None => true,
        Some(text) => Moment::read(text).is_some_and(|signed| signed.plus_seconds(FRESH) >= now),
    }
}

/// A key that the caller may do this with; everybody is told that there is none.
fn find(ask: &Ask<'_>, state: &State, caller: &Subject, rule: &str) -> Result<Credential, Problem> {
    primary(caller)?;
    let id = key_id(ask.param(1));
    let credential = state.credentials.get(&id).filter(|found| found.kind == "ec2");
    let credential = credential.ok_or_else(|| Problem::missing("credential", &id))?;
    allowed(state, caller, &credential.user_id, rule)?;
    Ok(credential.clone())
}

fn part(credential: &Credential, name: &str) -> Value {
    let blob: Value = serde_json::from_str(&credential.blob).unwrap_or_default();
    blob[name].clone()
}

fn show_key(ask: &Ask<'_>, credential: &Credential) -> Value {
    let access = part(credential, "access");
    let shown = json!({
        "user_id": credential.user_id, "tenant_id": credential.project_id, "access": access,
        "secret": part(credential, "secret"), "trust_id": null,
    });
    let collection = format!("users/{}/credentials/OS-EC2", credential.user_id);
    ask.linked(shown, &collection, access.as_str().unwrap_or_default())
}
