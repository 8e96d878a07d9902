//! The interface for programs that run the service in their own process.

use std::fmt;

use axum::http::StatusCode;
use serde_json::Value;

use super::Identity;
use super::api::{body, issue};
use super::error::ApiError;
use super::records::Scope;
use super::seed::DEFAULT_DOMAIN;
use super::token::{self, TokenRequest};

/// The login of a service user.
#[derive(Clone)]
#[non_exhaustive]
pub struct ServiceLogin {
    /// The id of the user.
    pub user_id: String,
    /// The name of the user.
    pub user_name: String,
    /// The domain of the user.
    pub user_domain_id: String,
    /// The password of the user.
    pub password: String,
    /// The project to log in to.
    pub project_id: Option<String>,
    /// The name of that project, which is in the domain of the user.
    pub project_name: Option<String>,
    /// The domain to log in to, instead of a project.
    pub domain_id: Option<String>,
}

/// The password is not printed.
impl fmt::Debug for ServiceLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = self.project_id.as_ref().or(self.domain_id.as_ref());
        f.debug_struct("ServiceLogin")
            .field("user", &self.user_name)
            .field("scope", &scope)
            .finish_non_exhaustive()
    }
}

/// A token for a project.
#[derive(Clone)]
#[non_exhaustive]
pub struct Token {
    /// The value of `X-Auth-Token`.
    pub id: String,
    /// The id of the user.
    pub user_id: String,
    /// The id of the project.
    pub project_id: String,
    /// The names of the roles, sorted.
    pub roles: Vec<String>,
    /// The time of expiry, in microseconds since 1970-01-01 UTC.
    pub expires_at: i64,
}

/// The token itself is not printed.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("user_id", &self.user_id)
            .field("project_id", &self.project_id)
            .field("roles", &self.roles)
            .finish_non_exhaustive()
    }
}

/// The owner of a token.
#[derive(Clone, Debug)]
pub(crate) struct TokenInfo {
    pub(crate) user_id: String,
    pub(crate) project_id: Option<String>,
    pub(crate) roles: Vec<String>,
}

/// The reason why a login without a password is rejected.
#[derive(Clone, Debug, thiserror::Error)]
#[error("user {user} cannot log in to project {project}: {reason}")]
#[non_exhaustive]
pub struct LoginError {
    /// The name of the user.
    pub user: String,
    /// The name of the project.
    pub project: String,
    /// The reason.
    pub reason: String,
}

impl Identity {
    /// Logs in a user of the domain `default` to a project of that domain, without a password.
    pub fn login(&self, user: &str, project: &str) -> Result<Token, LoginError> {
        let error = |api_error: ApiError| LoginError {
            user: user.to_owned(),
            project: project.to_owned(),
            reason: api_error.message,
        };
        let now = self.now();
        let (user_id, project_id) = self
            .read(|state| {
                let person = state.users.named(DEFAULT_DOMAIN, user);
                let found = state.projects.named(DEFAULT_DOMAIN, project);
                let person = person.ok_or_else(|| ApiError::missing("user", user))?;
                let found = found.ok_or_else(|| ApiError::missing("project", project))?;
                Ok((person.id.clone(), found.id.clone()))
            })
            .map_err(error)?;
        let token_request = TokenRequest {
            user: user_id.clone(),
            methods: vec!["password".to_owned()],
            scope: Some(Scope::Project(project_id.clone())),
            chain: None,
            expires: now.plus_seconds(self.lifetime),
            trust: None,
            app_credential: None,
        };
        // The API conceals the reason; a caller in the same process may know it.
        let (id, subject) = issue(self, token_request, now).map_err(|api_error| match api_error
            .status
        {
            404 => error(ApiError::bad("one of them is disabled, or the user has no role there")),
            _ => error(api_error),
        })?;
        let roles = subject.roles.iter().map(|role| role.name.clone()).collect();
        Ok(Token { id, user_id, project_id, roles, expires_at: subject.claims.expires.0 })
    }

    /// Returns the document of `GET /v3/auth/tokens` for a token, or the status of the error.
    pub fn validate(&self, token: &str) -> Result<Value, StatusCode> {
        let claims = token::open(&self.signing, token).ok_or(StatusCode::NOT_FOUND)?;
        self.read(|state| {
            let subject = token::examine(state, claims, self.now(), 0).map_err(|api_error| {
                StatusCode::from_u16(api_error.status).unwrap_or(StatusCode::NOT_FOUND)
            })?;
            Ok(body(state, &subject, true))
        })
    }

    /// Returns the owner of a token; `None` if the token is invalid.
    pub(crate) fn token_info(&self, token: &str) -> Option<TokenInfo> {
        let claims = token::open(&self.signing, token)?;
        let subject = self.read(|state| token::examine(state, claims, self.now(), 0)).ok()?;
        Some(TokenInfo {
            user_id: subject.user.id,
            project_id: subject.project.map(|project| project.id),
            roles: subject.roles.into_iter().map(|role| role.name).collect(),
        })
    }

    /// Returns the login of the orchestration service: the user `heat` in the project `service`.
    pub fn service_login(&self) -> &ServiceLogin {
        &self.service
    }

    /// Returns the login of the administrator of stack users: `heat_domain_admin` in the domain `heat`.
    pub fn domain_admin_login(&self) -> &ServiceLogin {
        &self.domain_admin
    }

    /// Returns the domain of stack users.
    pub fn stack_domain_id(&self) -> &str {
        &self.domain_admin.user_domain_id
    }
}
