//! A traversal: an action on a stack, carried out node by node.

use super::schedule::{Schedule, SlotSchedule};
use crate::blueprint::Recipe;
use crate::failure::Failure;
use crate::ids::{ResourceId, SnapshotId};
use crate::record::v1::names::Word;
use crate::record::v1::{FailureBody, TraversalBody, TraversalFailureBody};
use crate::record::{Id, StoredMembers};
use crate::state::Action;
use crate::time::Time;
use crate::tree::Slot;
use kiln_resources::op::FailureClass;
use kiln_template::Members;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An action on a stack.
pub(crate) struct Traversal {
    /// The action.
    pub(crate) action: Action,
    /// How far it is.
    pub(crate) phase: Phase,
    /// When it times out.
    pub(crate) deadline: Time,
    /// Why it has failed; what is running is still awaited.
    pub(crate) failure: Option<StackFailure>,
    /// When operations that still run after a failure are stopped.
    pub(crate) grace_until: Option<Time>,
    /// Whether objects go with their records.
    pub(crate) objects: Objects,
    /// What follows a failure.
    pub(crate) on_failure: OnFailure,
    /// What a check found.
    pub(crate) check: CheckReport,
    /// The data of the objects that an adoption takes over, by the names of their resources.
    pub(crate) adopted: Option<Arc<Members>>,
    /// The snapshot that it is for.
    pub(crate) snapshot: Option<SnapshotId>,
    /// Objects are read first, and compared with what they should be.
    pub(crate) converges: bool,
    /// The dependencies of resources that were changed; `None` after a restart, when they are not known.
    pub(crate) touched: Option<BTreeSet<ResourceId>>,
    /// How many resources it is going to add.
    pub(crate) announced: usize,
}

/// The phase of a traversal.
pub(crate) enum Phase {
    /// The first phase is about to begin: of a new traversal, or after a restart.
    Pending,
    /// Each resource of the template is brought to its definition, after its dependencies. The nodes are positions in
    /// the template.
    Forward(Schedule),
    /// A nested stack is through with its forward phase, and keeps what was replaced until the resources of the
    /// parent that use it were updated: the parent's cleanup starts that of the nested stack.
    Deferred,
    /// Each resource that the goal has no place for is removed, after those that need it.
    Cleanup(SlotSchedule),
    /// Objects that outputs show are read once more. That changes nothing, and cannot fail.
    Refresh(SlotSchedule),
    /// The same operation runs on each resource that there is.
    ForEach(SlotSchedule),
}

/// Whether objects go with their records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Objects {
    /// An object is removed with the record of its resource.
    #[default]
    Remove,
    /// Objects are left alone: only the records go.
    Keep,
}

/// What follows if a traversal fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// A rollback, if the settings of the stack ask for it.
    #[default]
    AsStackSays,
    /// A rollback, whatever the settings of the stack are.
    RollBack,
    /// Nothing, whatever the settings of the stack are.
    Stay,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckReport {
    /// What is wrong so far.
    pub(crate) failures: Vec<String>,
    /// Whether there are resources whose types cannot be checked.
    pub(crate) is_incomplete: bool,
}

/// Why a traversal has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackFailure {
    /// The reason that the stack gets.
    pub(crate) reason: String,
    /// The resource that failed.
    pub(crate) failure: Option<Failure>,
}

impl StackFailure {
    /// A failure that is no resource's.
    pub(crate) fn new(reason: impl Into<String>) -> StackFailure {
        StackFailure { reason: reason.into(), failure: None }
    }
}

/// A traversal that is to begin.
pub(crate) struct TraversalSpec {
    pub(crate) action: Action,
    /// The recipe that it leads to; `None` if the recipe of the stack stays.
    pub(crate) recipe: Option<Arc<Recipe>>,
    pub(crate) objects: Objects,
    pub(crate) adopted: Option<Arc<Members>>,
    pub(crate) snapshot: Option<SnapshotId>,
    pub(crate) converges: bool,
}

impl TraversalSpec {
    /// The usual traversal of an action.
    pub(crate) fn new(action: Action, recipe: Option<Arc<Recipe>>) -> TraversalSpec {
        TraversalSpec {
            action,
            recipe,
            objects: Objects::Remove,
            adopted: None,
            snapshot: None,
            converges: false,
        }
    }
}

impl Traversal {
    pub(crate) fn new(action: Action, deadline: Time) -> Traversal {
        Traversal {
            action,
            phase: Phase::Pending,
            deadline,
            failure: None,
            grace_until: None,
            objects: Objects::Remove,
            on_failure: OnFailure::AsStackSays,
            check: CheckReport::default(),
            adopted: None,
            snapshot: None,
            converges: false,
            touched: Some(BTreeSet::new()),
            announced: 0,
        }
    }

    /// Whether a rollback follows if it fails, in a root stack with this setting.
    pub(crate) fn rolls_back_on_failure(&self, is_rolled_back: bool) -> bool {
        let can_roll_back = matches!(
            self.action,
            Action::Create | Action::Adopt | Action::Update | Action::Restore
        );
        can_roll_back
            && match self.on_failure {
                OnFailure::AsStackSays => is_rolled_back,
                OnFailure::RollBack => true,
                OnFailure::Stay => false,
            }
    }

    /// Whether the same operation runs on each resource.
    pub(crate) fn is_for_each(&self) -> bool {
        matches!(self.action, Action::Suspend | Action::Resume | Action::Check | Action::Snapshot)
    }

    /// Whether it has yet to come to its cleanup.
    pub(crate) fn is_forward(&self) -> bool {
        match self.phase {
            Phase::Forward(_) => true,
            Phase::Pending => !self.is_for_each(),
            Phase::Deferred | Phase::Cleanup(_) | Phase::Refresh(_) | Phase::ForEach(_) => false,
        }
    }

    /// Whether it waits for the cleanup of its parent.
    pub(crate) fn is_deferred(&self) -> bool {
        matches!(self.phase, Phase::Deferred)
    }

    /// The schedule of its phase.
    pub(crate) fn schedule(&self) -> Option<&Schedule> {
        match &self.phase {
            Phase::Forward(schedule) => Some(schedule),
            Phase::Cleanup(it) | Phase::Refresh(it) | Phase::ForEach(it) => Some(&it.schedule),
            Phase::Pending | Phase::Deferred => None,
        }
    }

    /// The schedule of its phase.
    pub(crate) fn schedule_mut(&mut self) -> Option<&mut Schedule> {
        match &mut self.phase {
            Phase::Forward(schedule) => Some(schedule),
            Phase::Cleanup(it) | Phase::Refresh(it) | Phase::ForEach(it) => Some(&mut it.schedule),
            Phase::Pending | Phase::Deferred => None,
        }
    }

    /// The resources that its phase visits, unless those are positions in the template.
    pub(crate) fn slots_mut(&mut self) -> Option<&mut SlotSchedule> {
        match &mut self.phase {
            Phase::Cleanup(it) | Phase::Refresh(it) | Phase::ForEach(it) => Some(it),
            Phase::Pending | Phase::Forward(_) | Phase::Deferred => None,
        }
    }

    /// The id of the schedule of its phase; no other schedule has it.
    pub(crate) fn schedule_id(&self) -> Option<u64> {
        self.schedule().map(|schedule| schedule.id)
    }

    /// Whether its cleanup will come to a resource, and has not.
    pub(crate) fn will_clean_up(&self, slot: Slot) -> bool {
        match &self.phase {
            Phase::Cleanup(it) => it.node_of(slot).is_some_and(|node| it.schedule.is_blocked(node)),
            _ => false,
        }
    }

    /// The stored record of it; the stack adds the request that began it.
    pub(crate) fn to_record(&self) -> TraversalBody {
        TraversalBody {
            action: Word(self.action),
            deadline: self.deadline.micros(),
            failure: self.failure.as_ref().map(|ending| TraversalFailureBody {
                reason: ending.reason.clone(),
                resource: ending.failure.as_ref().map(|failure| FailureBody {
                    class: failure.class.name().into(),
                    path: failure.path.clone(),
                    message: failure.message.clone(),
                }),
            }),
            grace_until: self.grace_until.map(Time::micros),
            flaws: self.check.failures.clone(),
            check_incomplete: self.check.is_incomplete,
            keeps_objects: self.objects == Objects::Keep,
            adopted: self.adopted.clone().map(StoredMembers),
            snapshot: self.snapshot.map(|id| Id(id.0)),
            must_roll_back: self.on_failure == OnFailure::RollBack,
            must_not_roll_back: self.on_failure == OnFailure::Stay,
            converges: self.converges,
            request: None,
        }
    }

    /// The traversal of a stored record.
    pub(crate) fn from_record(record: TraversalBody) -> Traversal {
        let action = record.action.0;
        // Earlier versions had one flag for both.
        let is_check = action == Action::Check;
        let is_incomplete = record.check_incomplete || is_check && record.keeps_objects;
        Traversal {
            failure: record.failure.map(|failure| StackFailure {
                reason: failure.reason,
                failure: failure.resource.map(|resource| Failure {
                    class: FailureClass::from_name(&resource.class),
                    path: resource.path,
                    message: resource.message,
                }),
            }),
            grace_until: record.grace_until.map(Time::from_micros),
            objects: match record.keeps_objects && !is_check {
                true => Objects::Keep,
                false => Objects::Remove,
            },
            // Earlier versions could have both flags; that a rollback must not follow counted.
            on_failure: match (record.must_roll_back, record.must_not_roll_back) {
                (_, true) => OnFailure::Stay,
                (true, false) => OnFailure::RollBack,
                (false, false) => OnFailure::AsStackSays,
            },
            check: CheckReport { failures: record.flaws, is_incomplete },
            adopted: record.adopted.map(|adopted| adopted.0),
            snapshot: record.snapshot.map(|id| SnapshotId(id.0)),
            converges: record.converges,
            touched: None,
            announced: 0,
            ..Traversal::new(action, Time::from_micros(record.deadline))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flag_of_earlier_versions_had_two_meanings() {
        let stored = |action, keeps_objects| {
            let record = Traversal::new(action, Time::NEVER).to_record();
            Traversal::from_record(TraversalBody { keeps_objects, ..record })
        };
        let check = stored(Action::Check, true);
        assert_eq!((check.objects, check.check.is_incomplete), (Objects::Remove, true));
        let delete = stored(Action::Delete, true);
        assert_eq!((delete.objects, delete.check.is_incomplete), (Objects::Keep, false));
    }

    #[test]
    fn policies_survive_a_restart() {
        for on_failure in [OnFailure::AsStackSays, OnFailure::RollBack, OnFailure::Stay] {
            let traversal = Traversal { on_failure, ..Traversal::new(Action::Update, Time::NEVER) };
            assert_eq!(Traversal::from_record(traversal.to_record()).on_failure, on_failure);
        }
    }
}
