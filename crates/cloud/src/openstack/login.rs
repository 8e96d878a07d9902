//! Authentication with the identity service, and the tokens that come of it.

use super::{OpenStack, endpoint};
use crate::http::exchange;
use crate::{Auth, CallError, CallPath, Credential, Secret};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A user with a password.
#[derive(Clone, Debug)]
pub struct Login {
    /// The name of the user, or the id.
    pub user: String,
    /// The name of the user's domain; nothing if the user is given by the id.
    pub domain: Option<String>,
    /// The user's password.
    pub password: Secret,
}

/// The domain in which stacks have their users, and its administrator.
#[derive(Clone, Debug)]
pub struct StackDomain {
    /// The domain's id. If it is not known, the name is used.
    pub id: Option<String>,
    /// The domain's name.
    pub name: String,
    /// The name of the domain's administrator, a user of the same domain.
    pub admin: String,
    /// The administrator's password.
    pub password: Secret,
    /// If there is no such domain: the name of the project in which a user of the domain above may create users, and
    /// the name of that project's domain.
    pub project: Option<(String, String)>,
}

/// A token, and what the identity service said of it.
pub(super) struct Token {
    pub(super) secret: Secret,
    pub(super) user: Arc<str>,
    pub(super) endpoints: BTreeMap<String, String>,
    expires_at: Timestamp,
}

impl Token {
    /// Whether the token is valid for a while yet.
    pub(super) fn is_valid(&self) -> bool {
        const MARGIN_SECS: i64 = 120;
        self.expires_at.as_second() - Timestamp::now().as_second() > MARGIN_SECS
    }
}

impl OpenStack {
    /// The address of a path of the identity service.
    pub(super) fn identity_url(&self, path: impl Into<CallPath>) -> Result<String, CallError> {
        let root = endpoint::version_root(crate::Service::Identity, &self.settings.auth_url);
        Ok(format!("{root}{}", path.into().checked()?))
    }

    /// Gets a token for a credential.
    pub(super) async fn log_in(&self, credential: &Credential) -> Result<Token, CallError> {
        let auth = match &credential.auth {
            Auth::None => return Err(no_credential()),
            Auth::Token(token) => return self.validate_token(token).await,
            Auth::Trust(id) => json!({
                "identity": self.trustee()?,
                "scope": { "OS-TRUST:trust": { "id": **id } },
            }),
            Auth::StackDomain => self.stack_domain()?,
            Auth::ApplicationCredential { id, secret } => json!({ "identity": {
                "methods": ["application_credential"],
                "application_credential": { "id": **id, "secret": secret.expose() },
            } }),
            Auth::Password(password) => json!({
                "identity": { "methods": ["password"], "password": {
                    "user": { "id": *credential.user, "password": password.expose() },
                } },
                "scope": { "project": { "id": *credential.project } },
            }),
        };
        self.log_in_with(auth).await
    }

    pub(super) async fn log_in_with(&self, auth: Value) -> Result<Token, CallError> {
        let request = self.client.post(self.identity_url("/auth/tokens")?);
        let reply = exchange(request.json(&json!({ "auth": auth }))).await.map_err(not_sent)?;
        let secret = reply.header("x-subject-token").unwrap_or_default().into();
        Ok(self.read_token(secret, &reply.body))
    }

    fn read_token(&self, secret: Secret, body: &Value) -> Token {
        let expiry = body.pointer("/token/expires_at").and_then(Value::as_str).unwrap_or_default();
        let user = body.pointer("/token/user/id").and_then(Value::as_str).unwrap_or_default();
        let region = self.settings.region.as_deref();
        Token {
            secret,
            user: user.into(),
            endpoints: endpoint::catalogue(body, region, &self.settings.interface),
            expires_at: expiry.parse().unwrap_or(Timestamp::MIN),
        }
    }

    /// How the administrator of the stack users' domain logs in to that domain.
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
        let user = json!({ "name": admin, "domain": domain, "password": password.expose() });
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

    /// How the engine's own account, the trustee of all trusts, logs in.
    pub(super) fn trustee(&self) -> Result<Value, CallError> {
        let Some(Login { user, domain, password }) = &self.settings.trustee else {
            return Err(CallError::Impossible(
                "There is no account to which users could delegate their roles. Next: fill in section \
                 [trustee] of the configuration."
                    .into(),
            ));
        };
        let password = password.expose();
        let user = match domain {
            Some(domain) => {
                json!({ "name": user, "domain": { "name": domain }, "password": password })
            }
            None => json!({ "id": user, "password": password }),
        };
        Ok(json!({ "methods": ["password"], "password": { "user": user } }))
    }

    /// Has the identity service validate a token, with that token itself.
    pub(super) async fn validate_token(&self, token: &Secret) -> Result<Token, CallError> {
        let request = self.client.get(self.identity_url("/auth/tokens")?);
        let request = request
            .header("X-Auth-Token", token.expose())
            .header("X-Subject-Token", token.expose());
        let reply = exchange(request).await.map_err(not_sent)?;
        Ok(self.read_token(token.clone(), &reply.body))
    }
}

/// A login changes nothing: if its reply is lost, the call itself was still not sent.
pub(super) fn not_sent(error: CallError) -> CallError {
    match error {
        CallError::Lost(why) => CallError::NotSent(why),
        other => other,
    }
}

fn no_credential() -> CallError {
    CallError::Impossible(
        "The stack has no credential to make calls with. Next: update the stack, so that it acts for the \
         user who updates it."
            .into(),
    )
}
