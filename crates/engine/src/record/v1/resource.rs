//! Resources and the operations in progress on them.

use super::names::Word;
use super::{is_false, is_zero};
use crate::record::value::{Id, Stored, StoredMembers};
use crate::state::Action;
use kiln_template::DeletionPolicy;
use kiln_template::environment::Hook;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a resource has besides its columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceBody {
    /// The definition that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) definition: Option<DefinitionBody>,
    /// The data of its type.
    #[serde(default, skip_serializing_if = "StoredMembers::is_empty")]
    pub(crate) data: StoredMembers,
    #[serde(default, skip_serializing_if = "Stored::is_null")]
    pub(crate) metadata: Stored,
    /// The signals that are in rows of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signals: Option<SignalsBody>,
    /// Its object, as the service showed it.
    #[serde(default, skip_serializing_if = "Stored::is_null")]
    pub(crate) shown: Stored,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) requires: Vec<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaced_by: Option<Id>,
    /// The nested stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nested_stack: Option<Id>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) doubtful: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) half_done: bool,
    /// Whether it is a create that is half done.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) half_created: bool,
    /// The properties that a failed update was to set.
    #[serde(default, skip_serializing_if = "StoredMembers::is_empty")]
    pub(crate) attempted: StoredMembers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wanted_size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cooldown: Option<CooldownBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hook: Option<Word<Hook>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) cleared_hooks: Vec<Word<Hook>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<OperationBody>,
}

/// The signals of a resource that are in rows of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalsBody {
    pub(crate) count: u64,
    /// Their size.
    pub(crate) bytes: u64,
}

/// A definition without functions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DefinitionBody {
    #[serde(rename = "type")]
    pub(crate) type_name: Arc<str>,
    #[serde(default, skip_serializing_if = "StoredMembers::is_empty")]
    pub(crate) properties: StoredMembers,
    #[serde(default, skip_serializing_if = "Stored::is_null")]
    pub(crate) metadata: Stored,
    #[serde(default, skip_serializing_if = "Stored::is_null")]
    pub(crate) update_policy: Stored,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deletion_policy: Option<Word<DeletionPolicy>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) depends_on: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) external_id: Option<Arc<str>>,
}

/// The cooldown of a group, and the scaling that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CooldownBody {
    pub(crate) micros: u64,
    pub(crate) reason: String,
}

/// An operation in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperationBody {
    pub(crate) kind: OperationName,
    pub(crate) action: Word<Action>,
    /// The definition that the resource gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<DefinitionBody>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) requires: Vec<Id>,
    #[serde(default, skip_serializing_if = "StoredMembers::is_empty")]
    pub(crate) drifted: StoredMembers,
    /// The steps in the order they were begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) journal: Vec<(Arc<str>, StepBody)>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) failures: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_failure: Option<ErrorBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pause: Option<PauseBody>,
    /// Whether the stack's present traversal waits for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) awaited: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) snapshot: Option<Id>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) keeps_copy: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) last_stage: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) stage_pause_micros: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) stages: u32,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OperationName {
    Create,
    Update,
    Delete,
    Check,
    /// The object is read again for the outputs.
    Refresh,
    Suspend,
    Resume,
    Snapshot,
    /// A copy of the object is removed.
    DeleteSnapshot,
    /// The object is searched for.
    ResolveDoubt,
    /// The object is compared with its definition.
    Observe,
    /// The service is told that an operation was stopped.
    Cancel,
}

/// How far a step of an operation is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum StepBody {
    Begun,
    Replied {
        status: u16,
        /// The body of the reply, as JSON.
        body: String,
    },
    Refused,
    Settled,
    /// A wait ends then, in microseconds since 1970.
    Until(i64),
}

/// The failure of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorBody {
    pub(crate) class: Arc<str>,
    pub(crate) message: String,
}

/// What a paused operation waits for, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PauseBody {
    /// The next attempt.
    Retry(i64),
    /// The next stage of a group's update.
    Stage(i64),
}
