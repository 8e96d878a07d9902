//! An operator's own backend says yes or no.

use super::headers::{add_client_options, header, secret_header};
use super::{Authenticator, Reason, Rejection};
use crate::caller::{Caller, Scope};
use async_trait::async_trait;
use axum::http::HeaderMap;
use std::sync::Arc;

/// Says whether somebody is who they say they are.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Whether the caller's name and password, or token, are good for the caller's project.
    ///
    /// All that is known of the caller is what the client said and the project in the address: whoever
    /// accepts it vouches for both.
    async fn accepts(&self, caller: &Caller) -> bool;
}

/// Lets in whom an operator's own backend accepts.
#[derive(Clone)]
pub struct Custom {
    backend: Arc<dyn Backend>,
    roles: Vec<String>,
}

impl Custom {
    /// Asks a backend; whom it accepts holds these roles.
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
        match self.backend.accepts(&caller).await {
            true => Ok(caller),
            false => Err(Rejection::new(Reason::Backend, headers)),
        }
    }
}
