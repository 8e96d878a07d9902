//! A login with a password, in the form of the identity service.

use super::headers::reveal;
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

/// A user or a project, by its id or by its name in a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityRef {
    /// By its id.
    Id(String),
    /// By its name, and the id of the domain.
    NameInDomainId {
        /// The name.
        name: String,
        /// The id of the domain.
        domain_id: String,
    },
    /// By its name, and the name of the domain.
    NameInDomainName {
        /// The name.
        name: String,
        /// The name of the domain.
        domain_name: String,
    },
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

impl EntityRef {
    fn json(&self) -> Json {
        match self {
            EntityRef::Id(id) => json!({ "id": id }),
            EntityRef::NameInDomainId { name, domain_id } => {
                json!({ "name": name, "domain": { "id": domain_id } })
            }
            EntityRef::NameInDomainName { name, domain_name } => {
                json!({ "name": name, "domain": { "name": domain_name } })
            }
        }
    }
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
