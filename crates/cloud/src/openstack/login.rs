//! Authentication with the identity service, and the tokens that come of it.

use super::{OpenStack, endpoint};
use crate::http::exchange;
use crate::{Auth, CallError, CallPath, Credential, DomainRef, EntityRef, Secret, Service};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A user with a password.
#[derive(Clone, Debug)]
pub struct Login {
    /// The user.
    pub user: EntityRef,
    /// The user's password.
    pub password: Secret,
}

/// Who creates the users of stacks, and where.
#[derive(Clone, Debug)]
pub enum StackDomain {
    /// In a domain of their own.
    Domain {
        /// The domain.
        domain: DomainRef,
        /// The name of the domain's administrator, a user of the same domain.
        admin: String,
        /// The administrator's password.
        password: Secret,
    },
    /// In the projects of stacks, by a user who may create users there.
    Projects {
        /// That user.
        login: Login,
        /// The project that the user logs in to.
        project: EntityRef,
    },
}

impl Login {
    /// The part of a request for a token that says who the user is. It holds the password.
    fn identity(&self) -> Value {
        let mut user = self.user.json();
        user["password"] = self.password.expose().into();
        json!({ "methods": ["password"], "password": { "user": user } })
    }
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
        let request = self.client(Service::Identity).post(self.identity_url("/auth/tokens")?);
        let reply = exchange(request.json(&json!({ "auth": auth }))).await.map_err(not_sent)?;
        let secret = reply.header("x-subject-token").unwrap_or_default().into();
        Ok(self.read_token(secret, &reply.body))
    }

    fn read_token(&self, secret: Secret, body: &Value) -> Token {
        let expiry = body.pointer("/token/expires_at").and_then(Value::as_str).unwrap_or_default();
        let user = body.pointer("/token/user/id").and_then(Value::as_str).unwrap_or_default();
        Token {
            secret,
            user: user.into(),
            endpoints: endpoint::catalogue(body, &self.settings),
            expires_at: expiry.parse().unwrap_or(Timestamp::MIN),
        }
    }

    /// How the administrator of the stack users' domain logs in to that domain.
    fn stack_domain(&self) -> Result<Value, CallError> {
        let Some(stack_domain) = &self.settings.stack_domain else {
            return Err(CallError::Impossible(
                "There is no domain for the users of stacks. Next: set stack_user_domain_name, \
                 stack_domain_admin and stack_domain_admin_password in the configuration."
                    .into(),
            ));
        };
        Ok(match stack_domain {
            StackDomain::Domain { domain, admin, password } => {
                let user = EntityRef::named(admin, domain.clone());
                let login = Login { user, password: password.clone() };
                json!({ "identity": login.identity(), "scope": { "domain": domain.json() } })
            }
            StackDomain::Projects { login, project } => {
                json!({ "identity": login.identity(), "scope": { "project": project.json() } })
            }
        })
    }

    /// How the engine's own account, the trustee of all trusts, logs in.
    pub(super) fn trustee(&self) -> Result<Value, CallError> {
        let Some(login) = &self.settings.trustee else {
            return Err(CallError::Impossible(
                "There is no account to which users could delegate their roles. Next: fill in section \
                 [trustee] of the configuration."
                    .into(),
            ));
        };
        Ok(login.identity())
    }

    /// Has the identity service validate a token, with that token itself.
    pub(super) async fn validate_token(&self, token: &Secret) -> Result<Token, CallError> {
        let request = self.client(Service::Identity).get(self.identity_url("/auth/tokens")?);
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

/// A login that was not tried is told apart from a call that was not sent: another service is down.
pub(super) fn of_identity(error: CallError) -> CallError {
    match error {
        CallError::Down(why) => CallError::Down(format!("the identity service: {why}")),
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
