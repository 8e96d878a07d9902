//! A user, a project or a domain, as it is named in requests to the identity service.

use serde_json::{Value, json};

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

impl EntityRef {
    /// The entity of a name in a domain.
    pub fn named(name: impl Into<String>, domain: DomainRef) -> EntityRef {
        let name = name.into();
        match domain {
            DomainRef::Id(domain_id) => EntityRef::NameInDomainId { name, domain_id },
            DomainRef::Name(domain_name) => EntityRef::NameInDomainName { name, domain_name },
        }
    }

    /// The entity in the form of the identity service.
    pub fn json(&self) -> Value {
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

/// A domain, by its id or by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomainRef {
    /// By its id.
    Id(String),
    /// By its name.
    Name(String),
}

impl DomainRef {
    /// The domain in the form of the identity service.
    pub fn json(&self) -> Value {
        match self {
            DomainRef::Id(id) => json!({ "id": id }),
            DomainRef::Name(name) => json!({ "name": name }),
        }
    }
}
