//! The work in progress on a resource.

use super::OpId;
use crate::ids::{ResourceId, SnapshotId};
use crate::state::Action;
use crate::time::Time;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{Failure, Journal};
use kiln_resources::scaling::Cooldown;
use kiln_template::{Members, ResolvedDefinition};
use std::sync::Arc;
use std::time::Duration;

/// An operation on a resource.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// The id under which its reports come in.
    pub(crate) id: OpId,
    /// What it does.
    pub(crate) kind: OperationKind,
    /// Why it was begun.
    pub(crate) origin: Origin,
    /// The action that it is a part of: the retries of a create are a delete and a create.
    pub(crate) action: Action,
    /// The definition that is being applied.
    pub(crate) target: Option<Arc<ResolvedDefinition>>,
    /// The dependencies of the resource by that definition.
    pub(crate) requires: Vec<ResourceId>,
    /// Whether it is being stopped.
    pub(crate) is_stopping: bool,
    /// What it waits for, if it is paused.
    pub(crate) pause: Option<Pause>,
    /// How it is done, and how far it is.
    pub(crate) work: Work,
}

/// Why an operation was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A node of a traversal needs it.
    Node(NodeId),
    /// The traversal of the stack began it before a restart, and no node has claimed it yet.
    Interrupted,
    /// No traversal that is under way: the one that began it was replaced, or a command began it.
    Detached,
}

/// A node of the schedule of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId {
    /// The schedule; never the same twice in a tree's life in one process.
    pub(crate) schedule: u64,
    /// The position in the schedule.
    pub(crate) node: usize,
}

/// How an operation is done.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// A handler of the resource's type runs.
    Handler(HandlerRun),
    /// The nested stack is traversed, in one stage or in several.
    Nested(Stages),
    /// The nested stack of a group gets another size, as a scaling policy asked.
    Resize(Resizing),
}

/// A handler that runs, and what it needs to go on after an interruption.
#[derive(Clone, Debug, Default)]
pub(crate) struct HandlerRun {
    /// The steps so far.
    pub(crate) journal: Journal,
    /// How often it failed.
    pub(crate) failures: u32,
    /// The first failure, which is the one that is shown.
    pub(crate) first_failure: Option<Failure>,
    /// The failure of a value that it reported and that was too large to be kept; not stored, because the handler reports
    /// the value again if it is run again.
    pub(crate) too_large: Option<Failure>,
    /// The values of properties that have drifted from the last definition.
    pub(crate) drifted: Arc<Members>,
    /// The snapshot for which a copy of the object is made.
    pub(crate) snapshot: Option<SnapshotId>,
    /// Whether the object is copied before it is removed.
    pub(crate) snapshot_before_delete: bool,
}

/// The traversals of a nested stack that an operation needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stages {
    /// Whether the traversal under way is the last that is needed.
    pub(crate) is_last: bool,
    /// How long to wait after that traversal, if another is needed.
    pub(crate) pause: Duration,
    /// How many traversals were begun.
    pub(crate) count: u32,
}

/// A change of the size of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resizing {
    /// The size that the policy asked for.
    pub(crate) size: usize,
    /// The cooldown that follows.
    pub(crate) cooldown: Cooldown,
    /// The traversals of the group's nested stack.
    pub(crate) stages: Stages,
}

/// What an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The next try.
    Retry(Time),
    /// The next stage of a group.
    Stage(Time),
}

impl Pause {
    /// When it is over.
    pub(crate) fn until(self) -> Time {
        match self {
            Pause::Retry(time) | Pause::Stage(time) => time,
        }
    }
}

impl Operation {
    /// The change of the size of a group: its nested stack is being traversed.
    pub(crate) fn resize(id: OpId, size: usize, cooldown: Cooldown) -> Operation {
        let stages = Stages { is_last: true, pause: Duration::ZERO, count: 1 };
        Operation {
            id,
            kind: OperationKind::Update,
            origin: Origin::Detached,
            action: Action::Update,
            target: None,
            requires: Vec::new(),
            is_stopping: false,
            pause: None,
            work: Work::Resize(Resizing { size, cooldown, stages }),
        }
    }

    /// The node that needs it, if that is of this schedule.
    pub(crate) fn node_in(&self, schedule: u64) -> Option<usize> {
        match self.origin {
            Origin::Node(id) if id.schedule == schedule => Some(id.node),
            _ => None,
        }
    }

    /// The handler that it runs.
    pub(crate) fn handler(&self) -> Option<&HandlerRun> {
        match &self.work {
            Work::Handler(run) => Some(run),
            Work::Nested(_) | Work::Resize(_) => None,
        }
    }

    /// The handler that it runs.
    pub(crate) fn handler_mut(&mut self) -> Option<&mut HandlerRun> {
        match &mut self.work {
            Work::Handler(run) => Some(run),
            Work::Nested(_) | Work::Resize(_) => None,
        }
    }

    /// The traversals of the nested stack that it needs.
    pub(crate) fn stages(&self) -> Option<&Stages> {
        match &self.work {
            Work::Nested(stages) => Some(stages),
            Work::Resize(resizing) => Some(&resizing.stages),
            Work::Handler(_) => None,
        }
    }

    /// The traversals of the nested stack that it needs.
    pub(crate) fn stages_mut(&mut self) -> Option<&mut Stages> {
        match &mut self.work {
            Work::Nested(stages) => Some(stages),
            Work::Resize(resizing) => Some(&mut resizing.stages),
            Work::Handler(_) => None,
        }
    }

    /// The change of size that it is.
    pub(crate) fn resizing(&self) -> Option<&Resizing> {
        match &self.work {
            Work::Resize(resizing) => Some(resizing),
            Work::Handler(_) | Work::Nested(_) => None,
        }
    }

    /// Whether a call was begun of which it is not known whether it was carried out.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.handler().is_some_and(|run| run.journal.is_doubtful())
    }
}
