//! The stack of a resource, and how guests reach the services.

use std::sync::Arc;
use uuid::Uuid;

/// The stack of a resource.
#[derive(Clone, Debug, Default)]
pub struct StackContext {
    /// The project that its stack belongs to.
    pub project: Arc<str>,
    /// The name of its stack.
    pub name: Arc<str>,
    /// The id of its stack.
    pub id: Uuid,
    /// The id of the stack that its stack is nested in, at the top.
    pub root: Uuid,
    /// The id of the project of the stack's users; empty if it is not known whether there is one.
    pub users_project: Option<Arc<str>>,
    /// How guests reach the services.
    pub guests: Arc<GuestAccess>,
}

/// How guests reach the services, as the operator configured it.
#[derive(Clone, Debug, Default)]
pub struct GuestAccess {
    /// The domain of stack users; without one, there are no stack users.
    pub domain: Option<Domain>,
    /// The role of stack users.
    pub role: Arc<str>,
    /// The URL of the identity service, with its version.
    pub auth_url: Arc<str>,
    /// The region of the services that guests use.
    pub region: Option<Arc<str>>,
    /// The URL of signals to wait conditions, if it is not in the catalogue: `…/v1/waitcondition`.
    pub waitcondition_url: Option<Arc<str>>,
    /// The URL at which servers read their metadata, if it is not in the catalogue.
    pub metadata_url: Option<Arc<str>>,
    /// The URL of the CloudWatch API, if it is not in the catalogue.
    pub watch_url: Option<Arc<str>>,
    /// Whether guests skip TLS verification of the orchestration service.
    pub is_insecure: bool,
}

/// A domain of the identity service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// By its id.
    Id(Arc<str>),
    /// By its name.
    Name(Arc<str>),
    /// No domain of their own: stack users are in the project of their stack.
    Owner,
}

impl StackContext {
    /// The name of the project of the stack's users.
    pub fn users_project_name(&self) -> String {
        users_project_name(&self.project, self.root)
    }
}

/// The name of the project of a root stack's users. Only the administrator of the users' domain can create a
/// project there, so the name proves which stack the users belong to.
pub fn users_project_name(project: &str, root: Uuid) -> String {
    const LONGEST: usize = 64;
    format!("{project}-{root}").chars().take(LONGEST).collect()
}

/// The project of a root stack, from the name of the project of its users.
pub fn owner_of_users_project(name: &str) -> Option<&str> {
    name.split_once('-').map(|(owner, _)| owner)
}
