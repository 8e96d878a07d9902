//! What a login says: who it claims to be, how it proves that, and for which scope it wants a token.

use serde_json::{Map, Value, json};

use super::super::problem::Problem;
use super::super::shape;

type Object = Map<String, Value>;

/// A login as it was asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) proofs: Vec<Proof>,
    pub(super) scope: Scope,
}

#[derive(Debug, PartialEq)]
pub(super) enum Proof {
    Password { user: UserRef, password: Option<String> },
    Token(String),
    AppCredential { which: AppRef, secret: Option<String> },
}

#[derive(Debug, PartialEq)]
pub(super) enum UserRef {
    Id(String),
    Named(String, DomainRef),
}

#[derive(Debug, PartialEq)]
pub(super) enum DomainRef {
    Id(String),
    Name(String),
}

#[derive(Debug, PartialEq)]
pub(super) enum AppRef {
    Id(String),
    Named(String, UserRef),
}

#[derive(Debug, PartialEq)]
pub(super) enum ProjectRef {
    Id(String),
    Named(String, DomainRef),
}

#[derive(Debug, PartialEq)]
pub(super) enum Scope {
    /// Nothing is said: the user's default project, if they have one.
    Unsaid,
    Unscoped,
    Project(ProjectRef),
    Domain(DomainRef),
    System,
    Trust(String),
}

/// Reads the body of a login.
pub(super) fn read(body: &Value) -> Result<Wish, Problem> {
    let auth = match body.get("auth") {
        None | Some(Value::Null) => return Err(Problem::expecting("auth", "request body")),
        Some(Value::Object(auth)) => auth,
        Some(other) => {
            return Err(Problem::bad(format!("{} is not of type 'object'", shape::python(other))));
        }
    };
    let identity = object(auth, "", "identity")?
        .ok_or_else(|| Problem::bad("'identity' is a required property"))?;
    let methods = match identity.get("methods") {
        Some(Value::Array(methods)) => methods,
        Some(other) => return Err(not_of("identity/methods", other, "array")),
        None => return Err(lacks("identity", "methods")),
    };
    let mut proofs = Vec::new();
    for (at, method) in methods.iter().enumerate() {
        let place = format!("identity/methods/{at}");
        let name = method.as_str().ok_or_else(|| not_of(&place, method, "string"))?;
        let proof = proof(identity, name)?;
        if !proofs.contains(&proof) {
            proofs.push(proof);
        }
    }
    if proofs.is_empty() {
        return Err(Problem::unauthorized());
    }
    Ok(Wish { proofs, scope: scope(auth)? })
}

fn proof(identity: &Object, method: &str) -> Result<Proof, Problem> {
    if !["application_credential", "password", "token"].contains(&method) {
        let known = json!({ "methods": ["password", "token", "application_credential"] });
        return Err(Problem::login("Attempted to authenticate with an unsupported method.")
            .with_identity(known));
    }
    let place = format!("identity/{method}");
    let payload = object(identity, "identity/", method)?
        .ok_or_else(|| Problem::expecting(method, "identity"))?;
    match method {
        "password" => {
            let user = object(payload, "identity/password/", "user")?
                .ok_or_else(|| Problem::expecting("user", "None"))?;
            let place = "identity/password/user/";
            let password = text(user, place, "password")?;
            Ok(Proof::Password { user: user_ref(user, place)?, password })
        }
        "token" => {
            let id = text(payload, "identity/token/", "id")?.ok_or_else(|| lacks(&place, "id"))?;
            Ok(Proof::Token(id))
        }
        _ => app_credential(payload),
    }
}

fn app_credential(payload: &Object) -> Result<Proof, Problem> {
    let place = "identity/application_credential/";
    let secret = text(payload, place, "secret")?;
    if let Some(id) = text(payload, place, "id")? {
        return Ok(Proof::AppCredential { which: AppRef::Id(id), secret });
    }
    let name = text(payload, place, "name")?
        .ok_or_else(|| Problem::expecting("name or ID", "application credential"))?;
    let user = object(payload, place, "user")?
        .ok_or_else(|| Problem::expecting("user", "application credential"))?;
    let user = user_ref(user, "identity/application_credential/user/")?;
    Ok(Proof::AppCredential { which: AppRef::Named(name, user), secret })
}

fn user_ref(user: &Object, place: &str) -> Result<UserRef, Problem> {
    if let Some(id) = text(user, place, "id")? {
        return Ok(UserRef::Id(id));
    }
    let name =
        text(user, place, "name")?.ok_or_else(|| Problem::expecting("id or name", "user"))?;
    let domain =
        object(user, place, "domain")?.ok_or_else(|| Problem::expecting("domain", "user"))?;
    Ok(UserRef::Named(name, domain_ref(domain, &format!("{place}domain"))?))
}

fn domain_ref(domain: &Object, place: &str) -> Result<DomainRef, Problem> {
    let within = format!("{place}/");
    if let Some(id) = text(domain, &within, "id")? {
        return Ok(DomainRef::Id(id));
    }
    match text(domain, &within, "name")? {
        Some(name) => Ok(DomainRef::Name(name)),
        None => Err(nameless(place)),
    }
}

fn scope(auth: &Object) -> Result<Scope, Problem> {
    let unclear =
        || Problem::expecting("system, project, domain, OS-TRUST:trust or unscoped", "scope");
    let scope = match auth.get("scope") {
        None | Some(Value::Null) => return Ok(Scope::Unsaid),
        Some(Value::String(word)) if word == "unscoped" => return Ok(Scope::Unscoped),
        Some(Value::String(_)) => return Err(unclear()),
        Some(Value::Object(scope)) => scope,
        Some(other) => return Err(not_of("scope", other, "object', 'string")),
    };
    let kinds = ["OS-TRUST:trust", "domain", "project", "system", "unscoped"];
    let mut said = kinds.iter().filter(|kind| scope.contains_key(**kind));
    let (Some(kind), None) = (said.next(), said.next()) else { return Err(unclear()) };
    let payload = object(scope, "scope/", kind)?.ok_or_else(unclear)?;
    match *kind {
        "OS-TRUST:trust" => {
            let id = text(payload, "scope/OS-TRUST:trust/", "id")?
                .ok_or_else(|| Problem::expecting("trust_id", "trust"))?;
            Ok(Scope::Trust(id))
        }
        "domain" => Ok(Scope::Domain(domain_ref(payload, "scope/domain")?)),
        "project" => Ok(Scope::Project(project_ref(payload)?)),
        "system" => Ok(Scope::System),
        _ => Ok(Scope::Unscoped),
    }
}

fn project_ref(project: &Object) -> Result<ProjectRef, Problem> {
    let place = "scope/project/";
    if let Some(id) = text(project, place, "id")? {
        return Ok(ProjectRef::Id(id));
    }
    let name = text(project, place, "name")?.ok_or_else(|| nameless("scope/project"))?;
    let domain =
        object(project, place, "domain")?.ok_or_else(|| Problem::expecting("domain", "project"))?;
    Ok(ProjectRef::Named(name, domain_ref(domain, "scope/project/domain")?))
}

fn object<'a>(map: &'a Object, place: &str, key: &str) -> Result<Option<&'a Object>, Problem> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(other) => Err(not_of(&format!("{place}{key}"), other, "object")),
    }
}

fn text(map: &Object, place: &str, key: &str) -> Result<Option<String>, Problem> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(not_of(&format!("{place}{key}"), other, "string")),
    }
}

fn not_of(place: &str, value: &Value, kind: &str) -> Problem {
    let shown = shape::python(value);
    Problem::bad(format!("Invalid input for field '{place}': {shown} is not of type '{kind}'"))
}

fn lacks(place: &str, key: &str) -> Problem {
    Problem::bad(format!("Invalid input for field '{place}': '{key}' is a required property"))
}

fn nameless(place: &str) -> Problem {
    Problem::bad(format!("Invalid input for field {place}: id or name must be present."))
}
