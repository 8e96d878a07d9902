//! What the owner of a tree did, as values: the machine and the owner record it, the driver logs and counts it.

use crate::ids::StackId;
use crate::machine::{Machine, Run};
use crate::request_id::RequestId;
use crate::tree::{OpId, Resource, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::OpError;
use std::sync::Arc;

/// An operation on a resource, as logs name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperationInfo {
    /// The number of the operation in its tree.
    pub(crate) op: OpId,
    /// The stack that the resource is in.
    pub(crate) stack: StackId,
    /// The name of the resource.
    pub(crate) resource: Arc<str>,
    /// The type of the resource.
    pub(crate) type_name: Arc<str>,
    /// What is done, such as `create`.
    pub(crate) operation: &'static str,
    /// The request that asked for it, if that is known.
    pub(crate) request: Option<RequestId>,
}

/// Something that the owner of a tree did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// An operation was started.
    Started(Arc<OperationInfo>),
    /// An operation ended; with its error, if it failed.
    Ended(Arc<OperationInfo>, Option<String>),
    /// An operation was stopped before its end.
    Stopped(Arc<OperationInfo>),
    /// An operation that failed is tried again.
    Retried(&'static str),
}

/// The activity of a tree since it was last taken, and the requests that its stacks act for.
#[derive(Debug, Default)]
pub(crate) struct ActivityLog {
    /// Whether activity is recorded at all: only a driver takes it.
    is_enabled: bool,
    entries: Vec<Activity>,
    /// The request whose command is carried out in this step.
    request: Option<RequestId>,
}

impl ActivityLog {
    /// Has activity recorded from now on.
    pub(crate) fn enable(&mut self) {
        self.is_enabled = true;
    }

    /// Records something.
    pub(crate) fn record(&mut self, activity: Activity) {
        if self.is_enabled {
            self.entries.push(activity);
        }
    }

    /// Begins or ends a step for the command of a request.
    pub(crate) fn set_request(&mut self, request: Option<RequestId>) {
        self.request = request;
    }

    /// The request whose command is carried out in this step, if there is one.
    pub(crate) fn request(&self) -> Option<RequestId> {
        self.request
    }

    /// Takes what was recorded.
    pub(crate) fn take(&mut self) -> Vec<Activity> {
        std::mem::take(&mut self.entries)
    }
}

impl Machine {
    /// How logs name an operation.
    pub(crate) fn operation_info(&self, run: &Run) -> OperationInfo {
        let resource = self.tree.resource(run.slot);
        // An operation that is not for a traversal is for the command of this step, such as a signal.
        let request = self.activity.request.or_else(|| self.tree.request_of(resource.stack));
        OperationInfo {
            op: run.op,
            stack: self.tree.stack(resource.stack).id,
            resource: resource.summary.name.clone(),
            type_name: resource.summary.type_name.clone(),
            operation: operation_name(run.kind),
            request,
        }
    }
}

impl Tree {
    /// The request that a stack acts for: its own, or that of the nearest parent that has one.
    pub(crate) fn request_of(&self, mut key: StackKey) -> Option<RequestId> {
        loop {
            let stack = self.stack(key);
            if stack.request.is_some() {
                return stack.request;
            }
            key = stack.parent_resource?.0;
        }
    }

    /// How many resources there are of which it is not certain whether an object exists. This looks at all of them.
    pub(crate) fn count_doubts(&self) -> usize {
        let is_doubtful = |resource: &&Resource| {
            resource.is_doubtful || resource.op.as_ref().is_some_and(|op| op.is_doubtful())
        };
        self.resources.iter().flatten().filter(is_doubtful).count()
    }
}

/// The error of an operation that failed; `None` if it ended otherwise.
pub(crate) fn error_text(stop: &OpError) -> Option<String> {
    match stop {
        OpError::Failed(failure) => Some(format!("{}: {}", failure.class, failure.message)),
        _ => None,
    }
}

/// The name of an operation in logs and metrics.
pub(crate) fn operation_name(operation: OperationKind) -> &'static str {
    match operation {
        OperationKind::Create => "create",
        OperationKind::Update => "update",
        OperationKind::Delete => "delete",
        OperationKind::Check => "check",
        OperationKind::Refresh => "refresh",
        OperationKind::Suspend => "suspend",
        OperationKind::Resume => "resume",
        OperationKind::Snapshot => "snapshot",
        OperationKind::DeleteSnapshot => "delete_snapshot",
        OperationKind::ResolveDoubt => "resolve_doubt",
        OperationKind::Observe => "observe",
        OperationKind::Cancel => "cancel",
    }
}
