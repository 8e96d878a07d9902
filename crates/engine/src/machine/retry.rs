//! Retries of operations that failed and may yet succeed.

use crate::activity::{Activity, operation_name};
use crate::failure::{Failure, bounded};
use crate::state::{Action, State, Status};
use crate::time::Time;
use crate::tree::{Env, Pause, Slot, Timer, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{self, Journal};
use std::time::Duration;

impl Tree {
    pub(crate) fn may_retry(&self, slot: Slot, cause: &op::Failure) -> bool {
        let Some(op) = &self.resource(slot).op else { return false };
        let traversal = self.stack(self.resource(slot).stack).traversal.as_ref();
        let is_calm = match traversal {
            Some(traversal) => traversal.failure.is_none() || traversal.action == Action::Delete,
            None => op.kind == OperationKind::DeleteSnapshot,
        };
        is_calm
            && !op.is_stopping
            && cause.is_retryable
            && op.failures < self.config.retries
            && matches!(
                op.kind,
                OperationKind::Create | OperationKind::Delete | OperationKind::DeleteSnapshot
            )
    }

    /// Prepares a retry. After a failed create, the remains of the object are removed first.
    pub(crate) fn prepare_retry(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        failure: &Failure,
        cause: op::Failure,
    ) {
        let kind = self.resource(slot).op.as_ref().map(|op| op.kind);
        if let Some(kind) = kind {
            self.activity.record(Activity::Retried(operation_name(kind)));
        }
        let is_create = kind == Some(OperationKind::Create);
        if is_create {
            let failed = State::new(Action::Create, Status::Failed);
            self.set_state(env, slot, failed, &failure.to_string());
        }
        let now = env.now;
        let resource = self.change(slot);
        let Some(op) = &mut resource.op else { return };
        resource.is_doubtful |= op.journal.is_doubtful();
        op.failures += 1;
        op.first_failure.get_or_insert(bounded(cause));
        op.journal = Journal::default();
        if is_create {
            op.kind = OperationKind::Delete;
            let in_progress = State::new(Action::Delete, Status::InProgress);
            self.set_state(env, slot, in_progress, "state changed");
            return self.dispatch(env, slot);
        }
        let until = now + backoff(op.failures);
        self.pause(slot, Pause::Retry(until), until);
    }

    /// Whether the operation is the removal between two tries of a create.
    pub(crate) fn is_between_retries(&self, slot: Slot) -> bool {
        let op = self.resource(slot).op.as_deref();
        op.is_some_and(|op| op.kind == OperationKind::Delete && op.action == Action::Create)
    }

    pub(crate) fn try_again(&mut self, env: &mut Env<'_>, slot: Slot) {
        self.set_state(env, slot, State::new(Action::Delete, Status::Complete), "state changed");
        let resource = self.change(slot);
        resource.physical_id = None;
        resource.is_doubtful = false;
        let Some(op) = &mut resource.op else { return };
        op.kind = OperationKind::Create;
        op.journal = Journal::default();
        let until = env.now + backoff(op.failures);
        self.pause(slot, Pause::Retry(until), until);
    }

    /// Pauses an operation.
    pub(crate) fn pause(&mut self, slot: Slot, pause: Pause, until: Time) {
        let Some(op) = &mut self.change(slot).op else { return };
        op.pause = Some(pause);
        let id = op.id;
        self.timers.insert((until, Timer::Resource(slot, id)));
    }
}

/// How long to wait after so many failures.
pub(crate) fn backoff(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.min(10))
}
