//! Parses the body of a login: the authentication methods and the requested scope.

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use crate::python;

type Object = Map<String, Value>;

/// A parsed login.
#[derive(Debug, PartialEq)]
pub(super) struct AuthRequest {
    pub(super) auth_methods: Vec<AuthMethod>,
    pub(super) scope: RequestedScope,
}

#[derive(Debug, PartialEq)]
pub(super) enum AuthMethod {
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
pub(super) enum RequestedScope {
    /// The request has no scope: the default project of the user, if there is one.
    Unspecified,
    Unscoped,
    Project(ProjectRef),
    Domain(DomainRef),
    System,
    Trust(String),
}

/// Parses the body of a login.
pub(super) fn read(body: &Value) -> Result<AuthRequest, ApiError> {
    let auth = match body.get("auth") {
        None | Some(Value::Null) => return Err(ApiError::expecting("auth", "request body")),
        Some(Value::Object(auth)) => auth,
        Some(other) => {
            return Err(ApiError::bad(format!("{} is not of type 'object'", python::repr(other))));
        }
    };
    let identity = object(auth, "", "identity")?
        .ok_or_else(|| ApiError::bad("'identity' is a required property"))?;
    let methods = match identity.get("methods") {
        Some(Value::Array(methods)) => methods,
        Some(other) => return Err(not_of("identity/methods", other, "array")),
        None => return Err(lacks("identity", "methods")),
    };
    let mut auth_methods = Vec::new();
    for (at, method) in methods.iter().enumerate() {
        let path = format!("identity/methods/{at}");
        let name = method.as_str().ok_or_else(|| not_of(&path, method, "string"))?;
        let auth_method = auth_method(identity, name)?;
        if !auth_methods.contains(&auth_method) {
            auth_methods.push(auth_method);
        }
    }
    if auth_methods.is_empty() {
        return Err(ApiError::unauthorized());
    }
    Ok(AuthRequest { auth_methods, scope: scope(auth)? })
}

fn auth_method(identity: &Object, method: &str) -> Result<AuthMethod, ApiError> {
    if !["application_credential", "password", "token"].contains(&method) {
        let known = json!({ "methods": ["password", "token", "application_credential"] });
        return Err(ApiError::login("Attempted to authenticate with an unsupported method.")
            .with_identity(known));
    }
    let path = format!("identity/{method}");
    let payload = object(identity, "identity/", method)?
        .ok_or_else(|| ApiError::expecting(method, "identity"))?;
    match method {
        "password" => {
            let user = object(payload, "identity/password/", "user")?
                .ok_or_else(|| ApiError::expecting("user", "None"))?;
            let path = "identity/password/user/";
            let password = text(user, path, "password")?;
            Ok(AuthMethod::Password { user: user_ref(user, path)?, password })
        }
        "token" => {
            let id = text(payload, "identity/token/", "id")?.ok_or_else(|| lacks(&path, "id"))?;
            Ok(AuthMethod::Token(id))
        }
        _ => app_credential(payload),
    }
}

fn app_credential(payload: &Object) -> Result<AuthMethod, ApiError> {
    let path = "identity/application_credential/";
    let secret = text(payload, path, "secret")?;
    if let Some(id) = text(payload, path, "id")? {
        return Ok(AuthMethod::AppCredential { which: AppRef::Id(id), secret });
    }
    let name = text(payload, path, "name")?
        .ok_or_else(|| ApiError::expecting("name or ID", "application credential"))?;
    let user = object(payload, path, "user")?
        .ok_or_else(|| ApiError::expecting("user", "application credential"))?;
    let user = user_ref(user, "identity/application_credential/user/")?;
    Ok(AuthMethod::AppCredential { which: AppRef::Named(name, user), secret })
}

fn user_ref(user: &Object, path: &str) -> Result<UserRef, ApiError> {
    if let Some(id) = text(user, path, "id")? {
        return Ok(UserRef::Id(id));
    }
    let name =
        text(user, path, "name")?.ok_or_else(|| ApiError::expecting("id or name", "user"))?;
    let domain =
        object(user, path, "domain")?.ok_or_else(|| ApiError::expecting("domain", "user"))?;
    Ok(UserRef::Named(name, domain_ref(domain, &format!("{path}domain"))?))
}

fn domain_ref(domain: &Object, path: &str) -> Result<DomainRef, ApiError> {
    let within = format!("{path}/");
    if let Some(id) = text(domain, &within, "id")? {
        return Ok(DomainRef::Id(id));
    }
    match text(domain, &within, "name")? {
        Some(name) => Ok(DomainRef::Name(name)),
        None => Err(nameless(path)),
    }
}

fn scope(auth: &Object) -> Result<RequestedScope, ApiError> {
    let unclear =
        || ApiError::expecting("system, project, domain, OS-TRUST:trust or unscoped", "scope");
    let scope = match auth.get("scope") {
        None | Some(Value::Null) => return Ok(RequestedScope::Unspecified),
        Some(Value::String(word)) if word == "unscoped" => return Ok(RequestedScope::Unscoped),
        Some(Value::String(_)) => return Err(unclear()),
        Some(Value::Object(scope)) => scope,
        Some(other) => return Err(not_of("scope", other, "object', 'string")),
    };
    let forms = ["OS-TRUST:trust", "domain", "project", "system", "unscoped"];
    let mut present = forms.iter().filter(|form| scope.contains_key(**form));
    let (Some(form), None) = (present.next(), present.next()) else { return Err(unclear()) };
    let payload = object(scope, "scope/", form)?.ok_or_else(unclear)?;
    match *form {
        "OS-TRUST:trust" => {
            let id = text(payload, "scope/OS-TRUST:trust/", "id")?
                .ok_or_else(|| ApiError::expecting("trust_id", "trust"))?;
            Ok(RequestedScope::Trust(id))
        }
        "domain" => Ok(RequestedScope::Domain(domain_ref(payload, "scope/domain")?)),
        "project" => Ok(RequestedScope::Project(project_ref(payload)?)),
        "system" => Ok(RequestedScope::System),
        _ => Ok(RequestedScope::Unscoped),
    }
}

fn project_ref(project: &Object) -> Result<ProjectRef, ApiError> {
    let path = "scope/project/";
    if let Some(id) = text(project, path, "id")? {
        return Ok(ProjectRef::Id(id));
    }
    let name = text(project, path, "name")?.ok_or_else(|| nameless("scope/project"))?;
    let domain =
        object(project, path, "domain")?.ok_or_else(|| ApiError::expecting("domain", "project"))?;
    Ok(ProjectRef::Named(name, domain_ref(domain, "scope/project/domain")?))
}

fn object<'a>(map: &'a Object, path: &str, key: &str) -> Result<Option<&'a Object>, ApiError> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(other) => Err(not_of(&format!("{path}{key}"), other, "object")),
    }
}

fn text(map: &Object, path: &str, key: &str) -> Result<Option<String>, ApiError> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(not_of(&format!("{path}{key}"), other, "string")),
    }
}

fn not_of(path: &str, value: &Value, form: &str) -> ApiError {
    let rendered = python::repr(value);
    ApiError::bad(format!("Invalid input for field '{path}': {rendered} is not of type '{form}'"))
}

fn lacks(path: &str, key: &str) -> ApiError {
    ApiError::bad(format!("Invalid input for field '{path}': '{key}' is a required property"))
}

fn nameless(path: &str) -> ApiError {
    ApiError::bad(format!("Invalid input for field {path}: id or name must be present."))
}
