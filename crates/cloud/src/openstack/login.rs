//! Tokens, and trusts by which users lend their rights.

use super::{OpenStack, endpoint};
use crate::http::exchange;
use crate::{CallError, Credential, Proof};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Somebody with a name and a password.
#[derive(Clone)]
pub struct Login {
    /// The name of the user, or the id.
    pub user: String,
    /// The name of the user's domain; nothing if the user is given by the id.
    pub domain: Option<String>,
    /// The password.
    pub password: String,
}

/// The password is not shown.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.user)
    }
}

/// The domain of the users of stacks, and whoever owns it.
#[derive(Clone)]
pub struct StackDomain {
    /// The domain's id; its name counts if it is not known.
    pub id: Option<String>,
    /// The domain's name.
    pub name: String,
    /// The name of the user that may do anything in the domain, and is in it.
    pub admin: String,
    /// That user's password.
    pub password: String,
    /// If there is no such domain: the project in which somebody of the domain above may make users, and the name of
    /// the domain of that project.
    pub project: Option<(String, String)>,
}

/// The password is not shown.
impl fmt::Debug for StackDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {:?} {}", self.admin, self.id, self.name)
    }
}

/// What the identity service gave for a login.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) user: Arc<str>,
    pub(super) endpoints: BTreeMap<String, String>,
    ends: Timestamp,
}

impl Token {
    /// Whether it lasts for a while yet.
    pub(super) fn lasts(&self) -> bool {
        const MARGIN: i64 = 120;
        self.ends.as_second() - Timestamp::now().as_second() > MARGIN
    }
}

impl OpenStack {
    /// The address of something in the identity service.
    pub(super) fn identity(&self, path: &str) -> String {
        let root = endpoint::version_root(crate::Service::Identity, &self.settings.auth_url);
        format!("{root}{path}")
    }

    /// Logs in.
    pub(super) async fn log_in(&self, by: &Credential) -> Result<Token, CallError> {
        let auth = match &by.proof {
            Proof::None => return Err(nobody()),
            Proof::Token(text) => return self.examined(text).await,
            Proof::Trust(id) => json!({
                "identity": self.trustee()?,
                "scope": { "OS-TRUST:trust": { "id": **id } },
            }),
            Proof::StackDomain => self.stack_domain()?,
            Proof::Application { id, secret } => json!({ "identity": {
                "methods": ["application_credential"],
                "application_credential": { "id": **id, "secret": **secret },
            } }),
            Proof::Password(password) => json!({
                "identity": { "methods": ["password"], "password": {
                    "user": { "id": *by.user, "password": **password },
                } },
                "scope": { "project": { "id": *by.project } },
            }),
        };
        self.log_in_with(auth).await
    }

    pub(super) async fn log_in_with(&self, auth: Value) -> Result<Token, CallError> {
        let request = self.client.post(self.identity("/auth/tokens"));
        let reply = exchange(request.json(&json!({ "auth": auth }))).await.map_err(lost)?;
        let text = reply.header("x-subject-token").unwrap_or_default().to_owned();
        Ok(self.read(text, &reply.body))
    }

    fn read(&self, text: String, body: &Value) -> Token {
        let ends = body.pointer("/token/expires_at").and_then(Value::as_str).unwrap_or_default();
        let user = body.pointer("/token/user/id").and_then(Value::as_str).unwrap_or_default();
        let region = self.settings.region.as_deref();
        Token {
            text,
            user: user.into(),
            endpoints: endpoint::catalogue(body, region, &self.settings.interface),
            ends: ends.parse().unwrap_or(Timestamp::MIN),
        }
    }

    /// How whoever owns the domain of the users of stacks logs in: to that domain.
    fn stack_domain(&self) -> Result<Value, CallError> {
        let Some(StackDomain { id, name, admin, password, project }) = &self.settings.stack_domain
        else {
            return Err(CallError::Impossible(
                "There is no domain for the users of stacks. Next: set stack_user_domain_name, \
                 stack_domain_admin and stack_domain_admin_password in the configuration."
                    .into(),
            ));
        };
        let domain = match id {
            Some(id) => json!({ "id": id }),
            None => json!({ "name": name }),
        };
        let user = json!({ "name": admin, "domain": domain, "password": password });
        let scope = match project {
            None => json!({ "domain": domain }),
            Some((name, domain)) => {
                json!({ "project": { "name": name, "domain": { "name": domain } } })
            }
        };
        Ok(json!({
            "identity": { "methods": ["password"], "password": { "user": user } },
            "scope": scope,
        }))
    }

    pub(super) fn trustee(&self) -> Result<Value, CallError> {
        let Some(Login { user, domain, password }) = &self.settings.trustee else {
            return Err(CallError::Impossible(
                "Nobody is named to whom users could lend their rights. Next: fill in section [trustee] \
                 of the configuration."
                    .into(),
            ));
        };
        let user = match domain {
            Some(domain) => {
                json!({ "name": user, "domain": { "name": domain }, "password": password })
            }
            None => json!({ "id": user, "password": password }),
        };
        Ok(json!({ "methods": ["password"], "password": { "user": user } }))
    }

    /// What a token tells of itself.
    pub(super) async fn examined(&self, text: &str) -> Result<Token, CallError> {
        let request = self.client.get(self.identity("/auth/tokens"));
        let request = request.header("X-Auth-Token", text).header("X-Subject-Token", text);
        let reply = exchange(request).await.map_err(lost)?;
        Ok(self.read(text.to_owned(), &reply.body))
    }
}

/// A login changes nothing: whatever happened to it, the call was not sent.
pub(super) fn lost(error: CallError) -> CallError {
    match error {
        CallError::Lost(why) => CallError::NotSent(why),
        other => other,
    }
}

fn nobody() -> CallError {
    CallError::Impossible(
        "It is not known in whose name to call. Next: update the stack, so that it gets the rights of \
         whoever updates it."
            .into(),
    )
}
