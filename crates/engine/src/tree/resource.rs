//! A resource in memory.

use super::StackKey;
use super::operation::Operation;
use super::signals::Signals;
use crate::ids::{ResourceId, SnapshotId};
use crate::state::Status;
use crate::summary::ResourceSummary;
use kiln_template::environment::Hook;
use kiln_template::{Members, ResolvedDefinition, Value};
use std::sync::Arc;

/// A resource.
pub(crate) struct Resource {
    /// The id in the record; a replacement has another one.
    pub id: ResourceId,
    /// Its stack.
    pub stack: StackKey,
    /// Grows with each resource that is added to the tree.
    pub number: u64,
    /// Its name, type, state, physical id and times.
    pub summary: ResourceSummary,
    /// The definition that was applied last; `None` if none ever was.
    pub definition: Option<Arc<ResolvedDefinition>>,
    /// Data that its handlers keep.
    pub data: Arc<Members>,
    /// The metadata.
    pub metadata: Value,
    /// The signals that it keeps in its metadata.
    pub(crate) signals: Signals,
    /// The object as its service showed it last.
    pub remote: Value,
    /// The resources that it depends on.
    pub requires: Vec<ResourceId>,
    /// The resource that it replaces.
    pub replaces: Option<ResourceId>,
    /// The resource that replaces it.
    pub(crate) replaced_by: Option<ResourceId>,
    /// The snapshot that it belongs to, if it is the record of a copy of an object: such a record is in no
    /// template, and no reader sees it.
    pub(crate) copy_of: Option<SnapshotId>,
    /// Its nested stack.
    pub child: Option<StackKey>,
    /// Whether it is in doubt that there is an object: a call was lost.
    pub(crate) is_doubtful: bool,
    /// What a create or an update that failed half-way may have left undone.
    pub(crate) half_done: Option<HalfDone>,
    /// The hook that it waits at.
    pub hook: Option<Hook>,
    /// The hooks that were cleared in this traversal.
    pub cleared: Vec<Hook>,
    /// The operation in progress.
    pub op: Option<Box<Operation>>,
}

impl Resource {
    /// A resource of which nothing is known but its summary; the tree gives it its number.
    pub(crate) fn new(id: ResourceId, stack: StackKey, summary: ResourceSummary) -> Resource {
        Resource {
            id,
            stack,
            number: 0,
            summary,
            definition: None,
            data: Arc::default(),
            metadata: Value::Null,
            signals: Signals::default(),
            remote: Value::Null,
            requires: Vec::new(),
            replaces: None,
            replaced_by: None,
            copy_of: None,
            child: None,
            is_doubtful: false,
            half_done: None,
            hook: None,
            cleared: Vec::new(),
            op: None,
        }
    }

    /// Whether an operation failed, so that the state of the object is not known.
    pub(crate) fn is_suspect(&self) -> bool {
        self.summary.state.status == Status::Failed || self.half_done.is_some()
    }
}

/// What a failed operation may have left undone: how far it came is not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HalfDone {
    /// A create failed.
    Create,
    /// An update failed, which was to set these properties to these values.
    Update(Arc<Members>),
    /// An update failed, and an earlier version did not record what it was to set.
    Unknown,
}
