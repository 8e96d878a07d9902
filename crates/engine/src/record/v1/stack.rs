//! Stacks, their traversals, snapshots and events.

use super::credential::CredentialBody;
use super::names::Word;
use super::{is_false, is_zero};
use crate::record::value::{Id, StoredMembers};
use crate::state::Action;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a stack has besides its columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StackBody {
    /// The resource of the parent stack that this stack belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent_resource: Option<Id>,
    /// How long an action may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_secs: Option<u64>,
    /// Whether a failed create or update is rolled back.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) rollback: bool,
    /// Only of a root: the credential of the tree's calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credential: Option<CredentialBody>,
    /// Only of a root: the project of the tree's users; empty if it is not known whether there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) users_project: Option<Arc<str>>,
    /// Only of a root: delegations that are to be revoked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) to_revoke: Vec<CredentialBody>,
    /// Only of a root: how many stacks made this one, one through the other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) makers: u64,
    /// The action in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) traversal: Option<TraversalBody>,
}

/// An action in progress on a stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraversalBody {
    pub(crate) action: Word<Action>,
    /// When the action must have ended, in microseconds since 1970.
    pub(crate) deadline: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<TraversalFailureBody>,
    /// When operations that are still under way after a failure are stopped, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grace_until: Option<i64>,
    /// The failures that a check found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flaws: Vec<String>,
    /// Whether a check met types that cannot be checked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) check_incomplete: bool,
    /// Whether objects are left alone. Checks of earlier versions meant `check_incomplete` by it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) keeps_objects: bool,
    /// The objects that an adoption takes over, by the names of their resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) adopted: Option<StoredMembers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) snapshot: Option<Id>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) must_roll_back: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) must_not_roll_back: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) converges: bool,
    /// The request that began the action; absent if that is not known, or if the parent's request did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<Id>,
}

/// The reason why a traversal cannot succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraversalFailureBody {
    /// The reason that the stack gets.
    pub(crate) reason: String,
    /// The resource that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resource: Option<FailureBody>,
}

/// The failure of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureBody {
    pub(crate) class: Arc<str>,
    pub(crate) path: String,
    pub(crate) message: String,
}

/// What a snapshot has besides its columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SnapshotBody {
    /// The stack as a document.
    pub(crate) data: StoredMembers,
    /// The text of its template, as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<Arc<str>>,
}

/// What an event has besides its columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventBody {
    /// The properties from this event on.
    pub(crate) properties: StoredMembers,
}
