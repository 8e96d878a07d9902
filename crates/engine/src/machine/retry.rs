//! Retries of operations that failed and may yet succeed.

use super::reached::Transition;
use super::{Machine, Timer};
use crate::activity::{Activity, operation_name};
use crate::failure::{Failure, bounded};
use crate::state::{Action, State, Status};
use crate::tree::{Env, Pause, Slot, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{self, Journal};
use std::time::Duration;

impl Machine {
    /// Prepares a retry. After a failed create, the remains of the object are removed first.
    pub(crate) fn prepare_retry(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        failure: &Failure,
        cause: op::Failure,
    ) {
        let key = self.tree.resource(slot).stack;
        let op = self.tree.change(slot).op.as_mut();
        let Some((kind, run)) = op.and_then(|op| Some((op.kind, op.handler_mut()?))) else {
            return self.unexpected(key, "an operation without a handler is tried again");
        };
        let is_doubtful = run.journal.is_doubtful();
        run.failures += 1;
        run.first_failure.get_or_insert(bounded(cause));
        run.journal = Journal::default();
        let until = env.now + backoff(run.failures);
        self.tree.change(slot).is_doubtful |= is_doubtful;
        self.activity.record(Activity::Retried(operation_name(kind)));
        if kind != OperationKind::Create {
            self.reached.hit(Transition::DeleteRetried);
            return self.pause(slot, Pause::Retry(until));
        }
        self.reached.hit(Transition::CreateRetried);
        let failed = State::new(Action::Create, Status::Failed);
        self.tree.set_state(env, slot, failed, &failure.to_string());
        self.set_kind(slot, OperationKind::Delete);
        let in_progress = State::new(Action::Delete, Status::InProgress);
        self.tree.set_state(env, slot, in_progress, "state changed");
        self.dispatch(env, slot);
    }

    fn set_kind(&mut self, slot: Slot, kind: OperationKind) {
        if let Some(op) = &mut self.tree.change(slot).op {
            op.kind = kind;
        }
    }

    /// The remains of an object are removed: its create is tried again after a pause.
    pub(crate) fn try_again(&mut self, env: &mut Env<'_>, slot: Slot) {
        let deleted = State::new(Action::Delete, Status::Complete);
        self.tree.set_state(env, slot, deleted, "state changed");
        let resource = self.tree.change(slot);
        resource.summary.physical_id = None;
        resource.is_doubtful = false;
        let key = resource.stack;
        let Some(run) = resource.op.as_mut().and_then(|op| op.handler_mut()) else {
            return self.unexpected(key, "an operation without a handler is tried again");
        };
        run.journal = Journal::default();
        let until = env.now + backoff(run.failures);
        self.set_kind(slot, OperationKind::Create);
        self.pause(slot, Pause::Retry(until));
    }

    /// Pauses an operation.
    pub(crate) fn pause(&mut self, slot: Slot, pause: Pause) {
        let resource = self.tree.change(slot);
        let key = resource.stack;
        let Some(op) = &mut resource.op else {
            return self.unexpected(key, "an operation that is not there is paused");
        };
        op.pause = Some(pause);
        let id = op.id;
        self.timers.insert((pause.until(), Timer::Resource(slot, id)));
    }
}

impl Tree {
    pub(crate) fn may_retry(&self, slot: Slot, cause: &op::Failure) -> bool {
        let Some(op) = &self.resource(slot).op else { return false };
        let Some(run) = op.handler() else { return false };
        let traversal = self.traversal(self.resource(slot).stack);
        let is_calm = match traversal {
            Some(traversal) => traversal.failure.is_none() || traversal.action == Action::Delete,
            None => op.kind == OperationKind::DeleteSnapshot,
        };
        is_calm
            && !op.is_stopping
            && cause.is_retryable
            && run.failures < self.config.retries
            && matches!(
                op.kind,
                OperationKind::Create | OperationKind::Delete | OperationKind::DeleteSnapshot
            )
    }

    /// Whether the operation is the removal between two tries of a create.
    pub(crate) fn is_between_retries(&self, slot: Slot) -> bool {
        let op = self.resource(slot).op.as_deref();
        op.is_some_and(|op| op.kind == OperationKind::Delete && op.action == Action::Create)
    }
}

/// How long to wait after so many failures.
pub(crate) fn backoff(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.min(10))
}
