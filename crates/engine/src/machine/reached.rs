//! Which transitions a machine has gone through: the simulation prints what its seeds reached, and a test fails if there
//! is a transition that neither a seed nor a story reaches.

use crate::state::Action;

/// Counts transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached([u64; Transition::ALL.len()]);

impl Default for Reached {
    fn default() -> Reached {
        Reached([0; Transition::ALL.len()])
    }
}

impl Reached {
    /// Counts a transition.
    pub(crate) fn hit(&mut self, transition: Transition) {
        self.0[transition as usize] += 1;
    }

    /// Adds the counts of another machine.
    pub fn add(&mut self, other: &Reached) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    /// All transitions, with how often each happened.
    pub fn counts(&self) -> impl Iterator<Item = (Transition, u64)> + '_ {
        Transition::ALL.into_iter().zip(self.0)
    }
}

/// A transition of the machine that a test has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transition {
    /// A create begins.
    CreateBegun,
    /// An adoption begins.
    AdoptBegun,
    /// An update begins.
    UpdateBegun,
    /// A delete begins.
    DeleteBegun,
    /// A rollback begins.
    RollbackBegun,
    /// A suspend begins.
    SuspendBegun,
    /// A resume begins.
    ResumeBegun,
    /// A check begins.
    CheckBegun,
    /// A snapshot begins.
    SnapshotBegun,
    /// A restore begins.
    RestoreBegun,
    /// A newer traversal replaces one that is under way.
    TraversalSuperseded,
    /// A traversal completes.
    TraversalCompleted,
    /// A traversal fails.
    TraversalFailed,
    /// A traversal times out.
    TraversalTimedOut,
    /// Operations are stopped because the grace after a failure is over.
    GraceOver,
    /// A user cancels a create or an update.
    TraversalCancelled,
    /// A cancelled traversal waits for operations that run on, and its stack has failed already.
    TraversalWindsDown,
    /// A resource is added.
    ResourceAdded,
    /// A resource stays as it is.
    ResourceKept,
    /// A failed resource turns out to be as it should be.
    ResourceMarkedComplete,
    /// A resource is updated.
    ResourceUpdated,
    /// A definition asks for a replacement.
    ResourceReplaced,
    /// A handler asks for a replacement.
    ReplacedByHandler,
    /// An update of a resource is not possible.
    ResourceRejected,
    /// An update of a resource is restricted.
    ResourceRestricted,
    /// A resource that was replaced is current again.
    ResourceRevived,
    /// A definition cannot be resolved.
    DefinitionUnresolved,
    /// A tree would have too many resources.
    TooManyResources,
    /// A node waits for an operation that is not its own.
    NodeParked,
    /// A node claims an operation from before a restart.
    OperationClaimed,
    /// A nested stack gets a new goal while it is busy.
    NestedGoalChanged,
    /// A nested stack is on its way to the new goal already.
    NestedAlreadyThere,
    /// A nested stack defers its cleanup.
    CleanupDeferred,
    /// The cleanup of a parent starts a deferred one.
    DeferredCleanupStarted,
    /// A deferred cleanup is left to the next traversal.
    DeferredCleanupDropped,
    /// Of a deferred cleanup, what was replaced is left to the next traversal.
    DeferredCleanupOfRemoved,
    /// What a nested stack no longer has stays, because resources outside may still use it.
    RemovedKeptForUsers,
    /// A nested stack outlives the traversal of its parent.
    OutlivedParentTraversal,
    /// Two resources that are to be removed wait for each other.
    CleanupGraphCyclic,
    /// The object of a resource is removed.
    ResourceDeleted,
    /// An operation of an older traversal removes a resource.
    RemovedByOlderOperation,
    /// An operation fails for good.
    OperationFailed,
    /// A create is tried again.
    CreateRetried,
    /// A delete is tried again.
    DeleteRetried,
    /// An operation is stopped.
    OperationStopped,
    /// A service is told that an operation was stopped.
    CancelStarted,
    /// A paused operation is stopped.
    PausedOperationStopped,
    /// An operation that is over reports something.
    LateReport,
    /// An operation leaves it in doubt whether there is an object.
    DoubtLeft,
    /// A doubt is resolved.
    DoubtResolved,
    /// A doubt cannot be resolved yet.
    DoubtRetried,
    /// A nested stack is traversed for its parent resource.
    StageStarted,
    /// A group waits between two stages.
    StagePaused,
    /// A group needs another stage.
    StageRepeated,
    /// A nested stack fails.
    NestedFailed,
    /// A nested stack is deleted.
    NestedDeleted,
    /// What is done inside a nested stack is stopped, because the stack has to go.
    BusyNestedStopped,
    /// A group is resized.
    ResizeBegun,
    /// A group has its new size.
    ResizeCompleted,
    /// A group does not get its new size.
    ResizeFailed,
    /// An update overtakes a resize.
    ResizeSuperseded,
    /// A resource waits at a hook.
    HookReached,
    /// A hook is cleared.
    HookCleared,
    /// A hook is left because the traversal is over.
    HooksAbandoned,
    /// An operation of an older traversal does not wait at a hook.
    HookSkipped,
    /// A snapshot is asked for while something else is under way.
    SnapshotRefused,
    /// A snapshot fails.
    SnapshotFailed,
    /// A copy of an object is made.
    CopyMade,
    /// A copy of an object is removed.
    CopyRemoved,
    /// A copy of an object cannot be removed.
    CopyNotRemoved,
    /// An object that outputs show is read again.
    OutputsRefreshed,
    /// Reading for outputs is stopped because time is over.
    RefreshStopped,
    /// An object is compared with its definition.
    ObjectObserved,
    /// An object that exists is adopted.
    ObjectAdopted,
    /// An external object is checked.
    ExternalChecked,
    /// A check finds something wrong.
    CheckFailed,
    /// A type cannot be checked.
    CheckUnsupported,
    /// A suspend or a resume fails before anything is touched, because the state of a resource does not allow it.
    ActionRefused,
    /// A signal is delivered.
    SignalDelivered,
    /// A signal is refused.
    SignalRefused,
    /// A resource is marked as healthy or unhealthy.
    HealthMarked,
    /// A traversal goes on after a restart.
    TraversalResumed,
    /// A failed traversal goes on after a restart.
    FailedTraversalResumed,
    /// An operation goes on after a restart.
    OperationResumed,
    /// A pause goes on after a restart.
    PauseResumed,
    /// An operation on a nested stack goes on after a restart.
    NestedResumed,
    /// A command comes too late.
    CommandIgnored,
}

impl Transition {
    /// All of them, in their order.
    pub const ALL: [Transition; 87] = [
        Transition::CreateBegun,
        Transition::AdoptBegun,
        Transition::UpdateBegun,
        Transition::DeleteBegun,
        Transition::RollbackBegun,
        Transition::SuspendBegun,
        Transition::ResumeBegun,
        Transition::CheckBegun,
        Transition::SnapshotBegun,
        Transition::RestoreBegun,
        Transition::TraversalSuperseded,
        Transition::TraversalCompleted,
        Transition::TraversalFailed,
        Transition::TraversalTimedOut,
        Transition::GraceOver,
        Transition::TraversalCancelled,
        Transition::TraversalWindsDown,
        Transition::ResourceAdded,
        Transition::ResourceKept,
        Transition::ResourceMarkedComplete,
        Transition::ResourceUpdated,
        Transition::ResourceReplaced,
        Transition::ReplacedByHandler,
        Transition::ResourceRejected,
        Transition::ResourceRestricted,
        Transition::ResourceRevived,
        Transition::DefinitionUnresolved,
        Transition::TooManyResources,
        Transition::NodeParked,
        Transition::OperationClaimed,
        Transition::NestedGoalChanged,
        Transition::NestedAlreadyThere,
        Transition::CleanupDeferred,
        Transition::DeferredCleanupStarted,
        Transition::DeferredCleanupDropped,
        Transition::DeferredCleanupOfRemoved,
        Transition::RemovedKeptForUsers,
        Transition::OutlivedParentTraversal,
        Transition::CleanupGraphCyclic,
        Transition::ResourceDeleted,
        Transition::RemovedByOlderOperation,
        Transition::OperationFailed,
        Transition::CreateRetried,
        Transition::DeleteRetried,
        Transition::OperationStopped,
        Transition::CancelStarted,
        Transition::PausedOperationStopped,
        Transition::LateReport,
        Transition::DoubtLeft,
        Transition::DoubtResolved,
        Transition::DoubtRetried,
        Transition::StageStarted,
        Transition::StagePaused,
        Transition::StageRepeated,
        Transition::NestedFailed,
        Transition::NestedDeleted,
        Transition::BusyNestedStopped,
        Transition::ResizeBegun,
        Transition::ResizeCompleted,
        Transition::ResizeFailed,
        Transition::ResizeSuperseded,
        Transition::HookReached,
        Transition::HookCleared,
        Transition::HooksAbandoned,
        Transition::HookSkipped,
        Transition::SnapshotRefused,
        Transition::SnapshotFailed,
        Transition::CopyMade,
        Transition::CopyRemoved,
        Transition::CopyNotRemoved,
        Transition::OutputsRefreshed,
        Transition::RefreshStopped,
        Transition::ObjectObserved,
        Transition::ObjectAdopted,
        Transition::ExternalChecked,
        Transition::CheckFailed,
        Transition::CheckUnsupported,
        Transition::ActionRefused,
        Transition::SignalDelivered,
        Transition::SignalRefused,
        Transition::HealthMarked,
        Transition::TraversalResumed,
        Transition::FailedTraversalResumed,
        Transition::OperationResumed,
        Transition::PauseResumed,
        Transition::NestedResumed,
        Transition::CommandIgnored,
    ];

    /// What happens.
    pub fn description(self) -> &'static str {
        match self {
            Transition::CreateBegun => "a create begins",
            Transition::AdoptBegun => "an adoption begins",
            Transition::UpdateBegun => "an update begins",
            Transition::DeleteBegun => "a delete begins",
            Transition::RollbackBegun => "a rollback begins",
            Transition::SuspendBegun => "a suspend begins",
            Transition::ResumeBegun => "a resume begins",
            Transition::CheckBegun => "a check begins",
            Transition::SnapshotBegun => "a snapshot begins",
            Transition::RestoreBegun => "a restore begins",
            Transition::TraversalSuperseded => "a newer traversal replaces one that is under way",
            Transition::TraversalCompleted => "a traversal completes",
            Transition::TraversalFailed => "a traversal fails",
            Transition::TraversalTimedOut => "a traversal times out",
            Transition::GraceOver => {
                "operations are stopped because the grace after a failure is over"
            }
            Transition::TraversalCancelled => "a user cancels a create or an update",
            Transition::TraversalWindsDown => {
                "a cancelled traversal waits for operations that run on"
            }
            Transition::ResourceAdded => "a resource is added",
            Transition::ResourceKept => "a resource stays as it is",
            Transition::ResourceMarkedComplete => {
                "a failed resource turns out to be as it should be"
            }
            Transition::ResourceUpdated => "a resource is updated",
            Transition::ResourceReplaced => "a definition asks for a replacement",
            Transition::ReplacedByHandler => "a handler asks for a replacement",
            Transition::ResourceRejected => "an update of a resource is not possible",
            Transition::ResourceRestricted => "an update of a resource is restricted",
            Transition::ResourceRevived => "a resource that was replaced is current again",
            Transition::DefinitionUnresolved => "a definition cannot be resolved",
            Transition::TooManyResources => "a tree would have too many resources",
            Transition::NodeParked => "a node waits for an operation that is not its own",
            Transition::OperationClaimed => "a node claims an operation from before a restart",
            Transition::NestedGoalChanged => "a nested stack gets a new goal while it is busy",
            Transition::NestedAlreadyThere => {
                "a nested stack is on its way to the new goal already"
            }
            Transition::CleanupDeferred => "a nested stack defers its cleanup",
            Transition::DeferredCleanupStarted => "the cleanup of a parent starts a deferred one",
            Transition::DeferredCleanupDropped => {
                "a deferred cleanup is left to the next traversal"
            }
            Transition::DeferredCleanupOfRemoved => {
                "of a deferred cleanup, what was replaced is left to the next traversal"
            }
            Transition::RemovedKeptForUsers => {
                "what a nested stack no longer has stays, because resources outside may still use it"
            }
            Transition::OutlivedParentTraversal => {
                "a nested stack outlives the traversal of its parent"
            }
            Transition::CleanupGraphCyclic => {
                "two resources that are to be removed wait for each other"
            }
            Transition::ResourceDeleted => "the object of a resource is removed",
            Transition::RemovedByOlderOperation => {
                "an operation of an older traversal removes a resource"
            }
            Transition::OperationFailed => "an operation fails for good",
            Transition::CreateRetried => "a create is tried again",
            Transition::DeleteRetried => "a delete is tried again",
            Transition::OperationStopped => "an operation is stopped",
            Transition::CancelStarted => "a service is told that an operation was stopped",
            Transition::PausedOperationStopped => "a paused operation is stopped",
            Transition::LateReport => "an operation that is over reports something",
            Transition::DoubtLeft => "an operation leaves it in doubt whether there is an object",
            Transition::DoubtResolved => "a doubt is resolved",
            Transition::DoubtRetried => "a doubt cannot be resolved yet",
            Transition::StageStarted => "a nested stack is traversed for its parent resource",
            Transition::StagePaused => "a group waits between two stages",
            Transition::StageRepeated => "a group needs another stage",
            Transition::NestedFailed => "a nested stack fails",
            Transition::NestedDeleted => "a nested stack is deleted",
            Transition::BusyNestedStopped => "work inside a nested stack that has to go is stopped",
            Transition::ResizeBegun => "a group is resized",
            Transition::ResizeCompleted => "a group has its new size",
            Transition::ResizeFailed => "a group does not get its new size",
            Transition::ResizeSuperseded => "an update overtakes a resize",
            Transition::HookReached => "a resource waits at a hook",
            Transition::HookCleared => "a hook is cleared",
            Transition::HooksAbandoned => "a hook is left because the traversal is over",
            Transition::HookSkipped => "an operation of an older traversal does not wait at a hook",
            Transition::SnapshotRefused => {
                "a snapshot is asked for while something else is under way"
            }
            Transition::SnapshotFailed => "a snapshot fails",
            Transition::CopyMade => "a copy of an object is made",
            Transition::CopyRemoved => "a copy of an object is removed",
            Transition::CopyNotRemoved => "a copy of an object cannot be removed",
            Transition::OutputsRefreshed => "an object that outputs show is read again",
            Transition::RefreshStopped => "reading for outputs is stopped because time is over",
            Transition::ObjectObserved => "an object is compared with its definition",
            Transition::ObjectAdopted => "an object that exists is adopted",
            Transition::ExternalChecked => "an external object is checked",
            Transition::CheckFailed => "a check finds something wrong",
            Transition::CheckUnsupported => "a type cannot be checked",
            Transition::ActionRefused => "a suspend or a resume fails before anything is touched",
            Transition::SignalDelivered => "a signal is delivered",
            Transition::SignalRefused => "a signal is refused",
            Transition::HealthMarked => "a resource is marked as healthy or unhealthy",
            Transition::TraversalResumed => "a traversal goes on after a restart",
            Transition::FailedTraversalResumed => "a failed traversal goes on after a restart",
            Transition::OperationResumed => "an operation goes on after a restart",
            Transition::PauseResumed => "a pause goes on after a restart",
            Transition::NestedResumed => "an operation on a nested stack goes on after a restart",
            Transition::CommandIgnored => "a command comes too late",
        }
    }

    /// The beginning of an action.
    pub(crate) fn begun(action: Action) -> Transition {
        match action {
            Action::Create | Action::Init | Action::Signal => Transition::CreateBegun,
            Action::Adopt => Transition::AdoptBegun,
            Action::Update => Transition::UpdateBegun,
            Action::Delete => Transition::DeleteBegun,
            Action::Rollback => Transition::RollbackBegun,
            Action::Suspend => Transition::SuspendBegun,
            Action::Resume => Transition::ResumeBegun,
            Action::Check => Transition::CheckBegun,
            Action::Snapshot => Transition::SnapshotBegun,
            Action::Restore => Transition::RestoreBegun,
        }
    }
}
