//! The caller of a request.

use kiln_cloud::UserToken;
use kiln_template::Secret;
use serde_json::Value as Json;
use std::sync::Arc;

/// The caller of a request: the result of authentication, and the only source of the user's identity.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The user's id.
    pub user_id: String,
    /// The user's name.
    pub user_name: String,
    /// The id of the domain that the user belongs to.
    pub user_domain_id: String,
    /// The id of the project that the token is for; empty if it is for none.
    pub project_id: String,
    /// The name of that project.
    pub project_name: String,
    /// The id of the domain that the project belongs to.
    pub project_domain_id: String,
    /// The name of that domain.
    pub project_domain_name: String,
    /// The id of the domain that the token is for; empty if it is for none.
    pub domain_id: String,
    /// The scope of the token.
    pub scope: Scope,
    /// The names of the user's roles, implied ones included.
    pub roles: Vec<String>,
    /// The ids of the same roles, in the same order, if the identity service lists them.
    pub role_ids: Vec<String>,
    /// Whether the project is the one for administrators; so if the token does not say.
    pub is_admin_project: bool,
    /// The trust that the token was given for.
    pub trust_id: Option<String>,
    /// The services that the user can reach, as the identity service lists them.
    pub catalog: Arc<Json>,
    /// The token, for calls on the user's behalf.
    pub token: Option<Secret>,
    /// The password, if the user sent one along for later.
    pub password: Option<Secret>,
    /// The user name that goes with that password. The user's word: nothing may be decided by it.
    pub login_name: Option<String>,
    /// The roles of the service that makes the request for the user, if one does.
    pub service_roles: Vec<String>,
    /// The region that the user selected.
    pub region: Option<String>,
    /// The URL of the identity service.
    pub auth_url: String,
}

/// The scope of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// A project.
    Project,
    /// A domain.
    Domain,
    /// The whole system.
    System,
    /// No scope.
    #[default]
    None,
}

impl Caller {
    /// The user's token, with which the engine can act for the user.
    pub fn user_token(&self) -> UserToken {
        let open = |secret: &Secret| secret.expose().as_text().cloned();
        UserToken {
            token: self.token.as_ref().and_then(open).unwrap_or_default().into(),
            user: self.user_id.as_str().into(),
            project: self.project_id.as_str().into(),
            roles: self.roles.iter().map(|role| role.as_str().into()).collect(),
            password: None,
            delegated: None,
        }
    }

    /// Whether the catalogue has a service. Without a catalogue, every service may be there.
    pub fn has_service(&self, service: kiln_cloud::Service) -> bool {
        let types = service.catalogue_types();
        let is_one = |it: &Json| it["type"].as_str().is_some_and(|kind| types.contains(&kind));
        self.catalog.as_array().is_none_or(|services| services.iter().any(is_one))
    }
}
