//! A login with a password, in the form of the identity service.

use super::headers::reveal;
use kiln_cloud::EntityRef;
use kiln_template::Secret;
use serde_json::{Value as Json, json};

/// A login with a password.
#[derive(Clone, Debug)]
pub struct Login {
    /// The user.
    pub user: EntityRef,
    /// The password.
    pub password: Secret,
    /// The scope of the token.
    pub scope: AuthScope,
}

/// The scope of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthScope {
    /// A project.
    Project(EntityRef),
    /// A domain, by its id.
    Domain(String),
    /// The whole system.
    System,
}

impl Login {
    /// The request for a token. It holds the password: it must go nowhere but to the identity service.
    pub(super) fn request(&self) -> Json {
        let mut user = self.user.json();
        user["password"] = reveal(&self.password).into();
        let scope = match &self.scope {
            AuthScope::Project(project) => json!({ "project": project.json() }),
            AuthScope::Domain(id) => json!({ "domain": { "id": id } }),
            AuthScope::System => json!({ "system": { "all": true } }),
        };
        let identity = json!({ "methods": ["password"], "password": { "user": user } });
        json!({ "auth": { "identity": identity, "scope": scope } })
    }
}
