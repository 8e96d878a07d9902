//! Accepts every request as one of an administrator: for tests and isolated deployments.

use super::headers::{header, secret, secret_header};
use super::{Authenticator, Rejection};
use crate::caller::{Caller, Scope};
use async_trait::async_trait;
use axum::http::HeaderMap;
use serde_json::Value as Json;
use std::sync::Arc;

/// Accepts every request, with the user and project that it names.
#[derive(Clone, Debug, Default)]
pub struct NoAuth {
    catalog: Arc<Json>,
}

impl NoAuth {
    /// With the services of a token, as the identity service would have described it, if there is one.
    pub fn new(token_response: Option<&Json>) -> NoAuth {
        let catalog = token_response.map(|response| response["token"]["catalog"].clone());
        NoAuth { catalog: Arc::new(catalog.unwrap_or_default()) }
    }
}

#[async_trait]
impl Authenticator for NoAuth {
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        _project_in_path: Option<&str>,
    ) -> Result<Caller, Rejection> {
        let user = header(headers, "x-auth-user").unwrap_or("admin");
        let project = header(headers, "x-auth-project").unwrap_or("admin");
        Ok(Caller {
            user_id: user.to_owned(),
            user_name: user.to_owned(),
            project_id: project.to_owned(),
            project_name: project.to_owned(),
            scope: Scope::Project,
            // With the roles that an identity service would imply.
            roles: ["admin", "manager", "member", "reader"].map(str::to_owned).to_vec(),
            is_admin_project: true,
            catalog: self.catalog.clone(),
            token: secret_header(headers, "x-auth-token"),
            password: Some(secret("unset")),
            login_name: Some(user.to_owned()),
            region: header(headers, "x-region-name").map(str::to_owned),
            auth_url: "url".to_owned(),
            ..Caller::default()
        })
    }
}
