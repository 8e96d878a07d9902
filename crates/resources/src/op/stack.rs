//! Where a resource is, and how those outside reach it.

use std::sync::Arc;
use uuid::Uuid;

/// Where a resource is.
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
    /// How those outside reach what is inside.
    pub guests: Arc<GuestAccess>,
}

/// How those outside reach what is inside: what an operator decides about that.
#[derive(Clone, Debug, Default)]
pub struct GuestAccess {
    /// The domain of the users of stacks; without one, there are no such users.
    pub domain: Option<Domain>,
    /// The role that such users have.
    pub role: Arc<str>,
    /// Where the identity service is, with its version.
    pub auth_url: Arc<str>,
    /// The region of the services that are told.
    pub region: Option<Arc<str>>,
    /// Where wait conditions are told of, if the catalogue does not say: `…/v1/waitcondition`.
    pub waitcondition_url: Option<Arc<str>>,
    /// Where servers read their metadata, if the catalogue does not say.
    pub metadata_url: Option<Arc<str>>,
    /// Where servers report to, if the catalogue does not say: the CloudWatch API.
    pub watch_url: Option<Arc<str>>,
    /// Whether those outside have to take any certificate of the orchestration service.
    pub is_insecure: bool,
}

/// A domain of the identity service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// By its id.
    Id(Arc<str>),
    /// By its name.
    Name(Arc<str>),
    /// There is none: the users of a stack are in the project that the stack is in.
    Owner,
}

impl StackContext {
    /// The name of the project of the stack's users.
    pub fn users_project_name(&self) -> String {
        users_project_name(&self.project, self.root)
    }
}

/// The name of the project in which the users of a root stack are: nobody but the owner of their domain can
/// make one of that name there, so it tells whose users they are.
pub fn users_project_name(project: &str, root: Uuid) -> String {
    const LONGEST: usize = 64;
    format!("{project}-{root}").chars().take(LONGEST).collect()
}

/// The project that a root stack belongs to, by the name of the project of its users.
pub fn owner_of_users_project(name: &str) -> Option<&str> {
    name.split_once('-').map(|(owner, _)| owner)
}
