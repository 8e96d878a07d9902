//! Authentication by an operator's own backend.

use super::headers::{add_client_options, header, secret_header};
use super::{Authenticator, Reason, Rejection};
use crate::caller::{Caller, Scope};
use async_trait::async_trait;
use axum::http::HeaderMap;
use std::sync::Arc;

/// Decides on credentials.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Whether the caller's name and password, or token, are good for the caller's project.
    ///
    /// Everything in the caller comes from the client and the path: a backend that accepts it vouches for it.
    async fn accepts(&self, caller: &Caller) -> bool;
}

/// Authenticates callers by an operator's own backend.
#[derive(Clone)]
pub struct Custom {
    backend: Arc<dyn Backend>,
    roles: Vec<String>,
}

impl Custom {
    /// Accepts the callers that the backend accepts, with these roles.
    pub fn new(backend: Arc<dyn Backend>, roles: Vec<String>) -> Custom {
        Custom { backend, roles }
    }
}

#[async_trait]
impl Authenticator for Custom {
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        project_in_path: Option<&str>,
    ) -> Result<Caller, Rejection> {
        let user = header(headers, "x-auth-user").unwrap_or_default();
        let project = project_in_path.unwrap_or_default();
        let mut caller = Caller {
            user_id: user.to_owned(),
            user_name: user.to_owned(),
            project_id: project.to_owned(),
            project_name: project.to_owned(),
            scope: if project.is_empty() { Scope::None } else { Scope::Project },
            roles: self.roles.clone(),
            is_admin_project: true,
            token: secret_header(headers, "x-auth-token"),
            auth_url: header(headers, "x-auth-url").unwrap_or_default().to_owned(),
            ..Caller::default()
        };
        add_client_options(&mut caller, headers);
        if self.backend.accepts(&caller).await {
            Ok(caller)
        } else {
            Err(Rejection::new(Reason::Backend, headers))
        }
    }
}
