//! The records of the identity service.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::table::Row;
use super::time::Moment;

/// The additional fields that clients store with a record.
pub(super) type Extra = Map<String, Value>;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Domain {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) enabled: bool,
    pub(super) tags: Vec<String>,
    pub(super) options: Extra,
    pub(super) extra: Extra,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Project {
    pub(super) id: String,
    pub(super) domain_id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) enabled: bool,
    pub(super) parent_id: String,
    pub(super) tags: Vec<String>,
    pub(super) options: Extra,
    pub(super) extra: Extra,
    /// The epoch of the project's tokens; tokens of another epoch are invalid.
    pub(super) epoch: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct User {
    pub(super) id: String,
    pub(super) domain_id: String,
    pub(super) name: String,
    pub(super) enabled: bool,
    /// The hash of the password; a user without one cannot log in with a password.
    pub(super) password: Option<String>,
    pub(super) default_project_id: Option<String>,
    pub(super) options: Extra,
    pub(super) extra: Extra,
    /// The epoch of the user's tokens; tokens of another epoch are invalid.
    pub(super) epoch: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) id: String,
    pub(super) domain_id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) extra: Extra,
}

/// A user's membership in a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Membership {
    pub(super) group: String,
    pub(super) user: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Role {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) domain_id: Option<String>,
    pub(super) description: Option<String>,
    pub(super) options: Extra,
}

/// The scope of a grant or of a token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scope {
    Project(String),
    Domain(String),
    System,
}

impl Scope {
    /// Returns a text for use in keys.
    pub(super) fn key(&self) -> String {
        match self {
            Scope::Project(id) => format!("project:{id}"),
            Scope::Domain(id) => format!("domain:{id}"),
            Scope::System => "system".to_owned(),
        }
    }

    /// Returns the name of the scope in error messages.
    pub(super) fn id(&self) -> &str {
        match self {
            Scope::Project(id) | Scope::Domain(id) => id,
            Scope::System => "system",
        }
    }
}

/// The type of the holder of a grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ActorType {
    #[default]
    User,
    Group,
}

impl ActorType {
    /// Returns the name of the type in messages and replies.
    pub(super) fn word(self) -> &'static str {
        match self {
            ActorType::User => "user",
            ActorType::Group => "group",
        }
    }
}

/// A user or a group has a role on a scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The id of the user or the group. The stored name dates from a time without groups.
    #[serde(rename = "user")]
    pub(super) actor: String,
    #[serde(default, rename = "kind")]
    pub(super) actor_type: ActorType,
    #[serde(rename = "place")]
    pub(super) scope: Scope,
    pub(super) role: String,
}

/// The prior role implies the other one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Implication {
    pub(super) prior: String,
    pub(super) implied: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Region {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) parent_region_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Service {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) service_type: String,
    pub(super) enabled: bool,
    /// The name, the description and other fields.
    pub(super) extra: Extra,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Endpoint {
    pub(super) id: String,
    pub(super) service_id: String,
    pub(super) interface: String,
    pub(super) url: String,
    pub(super) region_id: Option<String>,
    pub(super) enabled: bool,
    pub(super) extra: Extra,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AppCredential {
    pub(super) id: String,
    pub(super) user_id: String,
    pub(super) project_id: Option<String>,
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// The hash of the secret.
    pub(super) secret: String,
    pub(super) roles: Vec<String>,
    pub(super) expires_at: Option<Moment>,
    pub(super) unrestricted: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trust {
    pub(super) id: String,
    pub(super) trustor: String,
    pub(super) trustee: String,
    pub(super) project_id: Option<String>,
    pub(super) impersonation: bool,
    pub(super) roles: Vec<String>,
    pub(super) expires_at: Option<Moment>,
    pub(super) remaining_uses: Option<u64>,
    pub(super) redelegated_trust_id: Option<String>,
    pub(super) redelegation_count: u64,
}

/// A credential as clients store it. The secret of an EC2 key is stored in the blob in plain text, because signatures
/// are checked with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Credential {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) credential_type: String,
    pub(super) user_id: String,
    pub(super) project_id: Option<String>,
    pub(super) blob: String,
}

/// A revocation of tokens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Revocation {
    pub(super) number: u64,
    pub(super) of: Revoked,
    pub(super) at: Moment,
    /// The time at which all affected tokens have expired.
    pub(super) until: Moment,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Revoked {
    /// One token: its audit id and the time at which it was issued.
    Token(String, Moment),
    User(String),
    Project(String),
    Trust(String),
}

/// The singletons of the service.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Keys {
    /// The key that signs tokens and from which the passwords of the service users are derived.
    pub(super) signing: String,
    /// Tokens issued until this time are invalid, because their revocations were dropped.
    pub(super) floor: Moment,
    /// The number of the next revocation.
    pub(super) next: u64,
}

macro_rules! rows {
    ($($record:ident $table:literal $id:expr, $name:expr;)*) => {$(
        impl Row for $record {
            const TABLE: &'static str = $table;

            fn id(&self) -> String {
                let id: fn(&$record) -> String = $id;
                id(self)
            }

            fn name(&self) -> Option<(String, String)> {
                let name: fn(&$record) -> Option<(String, String)> = $name;
                name(self)
            }
        }
    )*};
}

// The tables, keys and unique names of the records.
rows! {
    AppCredential "application_credentials" |a| a.id.clone(), |a| within(&a.user_id, &a.name);
    Credential "credentials" |c| c.id.clone(), |_| None;
    Domain "domains" |d| d.id.clone(), |d| within("", &d.name);
    Endpoint "endpoints" |e| e.id.clone(), |_| None;
    Grant "grants" |g| grant_id(&g.actor, &g.scope, &g.role), |g| within(&g.scope.key(), &format!("{}/{}", g.actor, g.role));
    Group "groups" |g| g.id.clone(), |g| within(&g.domain_id, &g.name);
    Implication "implications" |i| format!("{}/{}", i.prior, i.implied), |_| None;
    Keys "keys" |_| "keys".to_owned(), |_| None;
    Membership "memberships" |m| membership_id(&m.user, &m.group), |m| within(&m.group, &m.user);
    Project "projects" |p| p.id.clone(), |p| within(&p.domain_id, &p.name);
    Region "regions" |r| r.id.clone(), |_| None;
    Revocation "revocations" |r| format!("{:020}", r.number), |r| match &r.of {
        Revoked::Token(audit_id, _) => within("token", audit_id),
        _ => None,
    };
    Role "roles" |r| r.id.clone(), |r| within(r.domain_id.as_deref().unwrap_or(""), &r.name);
    Service "services" |s| s.id.clone(), |_| None;
    Trust "trusts" |t| t.id.clone(), |_| None;
    User "users" |u| u.id.clone(), |u| within(&u.domain_id, &u.name);
}

/// Returns the key of a grant.
pub(super) fn grant_id(holder: &str, scope: &Scope, role: &str) -> String {
    format!("{holder}/{}/{role}", scope.key())
}

/// Returns the key of a membership.
pub(super) fn membership_id(user: &str, group: &str) -> String {
    format!("{user}/{group}")
}

fn within(scope: &str, name: &str) -> Option<(String, String)> {
    Some((scope.to_owned(), name.to_owned()))
}
