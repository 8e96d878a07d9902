//! The ends of operations: success, failure, or the request for a replacement.

use super::forward::Goal;
use super::retry::backoff;
use super::{Effect, Phase, Task};
use crate::failure::Failure;
use crate::state::{Action, State, Status};
use crate::tree::{Env, OpId, Operation, Pause, Slot, StackKey, Timer, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{self, Journal, OpError};
use kiln_template::environment::Hook;

impl Tree {
    pub(crate) fn operation_ended(
        &mut self,
        env: &mut Env<'_>,
        op: OpId,
        result: Result<(), OpError>,
    ) {
        if let Some(slot) = self.slot_of(op) {
            self.finish(env, slot, result);
        }
    }

    /// Ends the operation on a resource with this step: no call is needed. Without an operation there is nothing
    /// to end, as of a nested stack that is through after its parent resource.
    pub(crate) fn finish_immediately(&mut self, slot: Slot) {
        if let Some(op) = &self.resource(slot).op {
            // Before all other tasks, so that its beginning and its end are stored at once.
            self.queue.push_front(Task::FinishOperation(op.id));
        }
    }

    /// An operation is over.
    pub(crate) fn finish(&mut self, env: &mut Env<'_>, slot: Slot, result: Result<(), OpError>) {
        if self.resource(slot).op.as_ref().is_some_and(|op| op.kind == OperationKind::Observe) {
            return self.observed(slot, &result);
        }
        match result {
            Ok(()) => self.finish_well(env, slot),
            Err(OpError::Replace) => self.finish_replaced(env, slot),
            Err(OpError::Failed(failure)) => {
                let name = self.resource(slot).name.clone();
                let told = Failure::of(&name, failure.clone());
                self.finish_failed(env, slot, told, Some(failure));
            }
        }
    }

    /// Takes the operation off a resource.
    pub(crate) fn take_operation(&mut self, slot: Slot) -> Option<Box<Operation>> {
        let op = self.change(slot).op.take()?;
        self.ops.remove(&op.id);
        if let Some(Pause::Retry(time) | Pause::Stage(time)) = op.pause {
            self.timers.remove(&(time, Timer::Resource(slot, op.id)));
        }
        let key = self.resource(slot).stack;
        self.stack_mut(key).busy -= 1;
        Some(op)
    }

    pub(crate) fn finish_well(&mut self, env: &mut Env<'_>, slot: Slot) {
        if self.is_between_retries(slot) {
            return self.try_again(env, slot);
        }
        let Some(op) = self.take_operation(slot) else { return };
        match op.kind {
            OperationKind::Refresh => {
                return self.release_waiters(self.resource(slot).stack, slot, &op, true);
            }
            OperationKind::DeleteSnapshot => return self.copy_removed(slot, &op),
            OperationKind::Snapshot => self.copy_made(slot, &op),
            _ => {}
        }
        let resource = self.change(slot);
        if op.kind == OperationKind::ResolveDoubt {
            resource.is_doubtful = false;
            let key = resource.stack;
            return self.release_waiters(key, slot, &op, false);
        }
        if let Some(target) = &op.target {
            resource.is_half_done = false;
            resource.definition = Some(target.clone());
            // A nested stack may need its former dependencies until it has cleaned up.
            let former = match resource.child {
                Some(_) => std::mem::take(&mut resource.requires),
                None => Vec::new(),
            };
            resource.requires = op.requires.clone();
            resource.requires.extend(former.into_iter().filter(|id| !op.requires.contains(id)));
        }
        if op.kind == OperationKind::Delete {
            resource.is_doubtful = false;
        }
        let reason = match op.kind {
            OperationKind::Check => self.drift_reason(slot),
            _ => None,
        };
        let reason = reason.as_deref().unwrap_or("state changed");
        self.set_state(env, slot, State::new(op.action, Status::Complete), reason);
        if op.kind == OperationKind::Delete {
            return self.deleted(env, slot, &op);
        }
        if op.action == Action::Adopt && self.is_external(slot) {
            return self.check_external(env, slot, op);
        }
        if matches!(op.kind, OperationKind::Create | OperationKind::Update) {
            self.start_cooldown(env, slot);
        }
        let key = self.resource(slot).stack;
        let is_create = self.stack(key).state.action == Action::Create;
        if !is_create
            && op.origin.is_some()
            && matches!(op.kind, OperationKind::Create | OperationKind::Update)
        {
            self.mark_hook_passed(slot, Hook::PreUpdate);
        }
        let hook = match op.kind {
            OperationKind::Create if is_create => Some(Hook::PostCreate),
            OperationKind::Update => Some(Hook::PostUpdate),
            _ => None,
        };
        if let Some(hook) = hook
            && self.pauses_at_hook(env, slot, hook, op.action)
        {
            let node = op.origin.map_or(0, |(_, node)| node);
            return self.park(key, slot, node);
        }
        self.release_waiters(key, slot, &op, true);
    }

    /// The object of a resource was removed: so is its record, unless a hook is to be cleared first.
    pub(crate) fn deleted(&mut self, env: &mut Env<'_>, slot: Slot, op: &Operation) {
        let key = self.resource(slot).stack;
        let traversal = self.stack(key).traversal.as_ref();
        let number = traversal
            .filter(|traversal| traversal.action == Action::Delete)
            .map(|traversal| traversal.traversal_id);
        match op.origin {
            Some((started_by, node))
                if Some(started_by) == number
                    && self.pauses_at_hook(env, slot, Hook::PostDelete, Action::Delete) =>
            {
                self.park(key, slot, node);
                self.queue.push_back(Task::MaybeFinish(key));
            }
            _ => self.removed(slot, op),
        }
    }

    /// The object of a resource was removed: so is its record.
    pub(crate) fn removed(&mut self, slot: Slot, op: &Operation) {
        let key = self.resource(slot).stack;
        let traversal =
            self.traversal_mut(key).filter(|traversal| traversal.phase != Phase::Forward);
        let is_own = op
            .origin
            .zip(traversal.as_ref())
            .is_some_and(|((number, _), traversal)| number == traversal.traversal_id);
        match traversal {
            // An operation of an older traversal has removed what this one was to remove.
            Some(traversal) if !is_own => {
                traversal
                    .slots
                    .iter_mut()
                    .filter(|it| **it == Some(slot))
                    .for_each(|it| *it = None);
                if let Some(node) = traversal.parked.remove(&slot) {
                    self.node_done(key, node);
                }
            }
            _ => self.release_waiters(key, slot, op, true),
        }
        self.queue.push_back(Task::MaybeFinish(key));
        self.effects.push(Effect::Changed(slot));
        self.drop_resource(slot);
    }

    /// The operation on a resource is over: the node that waited for it is visited, or else its own node is done.
    pub(crate) fn release_waiters(
        &mut self,
        key: StackKey,
        slot: Slot,
        op: &Operation,
        is_done: bool,
    ) {
        self.queue.push_back(Task::MaybeFinish(key));
        let Some(traversal) = self.traversal_mut(key) else { return };
        if let Some(node) = traversal.parked.remove(&slot) {
            return self.enqueue(key, &[node]);
        }
        if let Some((_, node)) =
            op.origin.filter(|(number, _)| *number == traversal.traversal_id && is_done)
        {
            self.node_done(key, node);
        }
    }

    /// The handler of an update asks for a replacement, which begins if the traversal that began the update still goes
    /// forward.
    pub(crate) fn finish_replaced(&mut self, env: &mut Env<'_>, slot: Slot) {
        let Some(op) = self.take_operation(slot) else { return };
        let key = self.resource(slot).stack;
        self.announce_replacement(env, slot);
        let stack = self.stack(key);
        let is_current =
            op.origin.zip(stack.traversal.as_ref()).is_some_and(|((number, _), traversal)| {
                number == traversal.traversal_id
                    && traversal.failure.is_none()
                    && traversal.phase == Phase::Forward
            });
        let (Some(blueprint), Some((_, at)), true, Some(resolved)) =
            (stack.blueprint.clone(), op.origin, is_current, op.target.clone())
        else {
            return self.release_waiters(key, slot, &op, false);
        };
        let goal = Goal {
            at,
            resolved_type: blueprint.type_at(at),
            definition: resolved,
            requires: op.requires,
        };
        self.replace(env, slot, goal);
        self.queue.push_back(Task::MaybeFinish(key));
    }

    /// An operation failed. `cause` is the failure that its handler reported, if it did.
    pub(crate) fn finish_failed(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        failure: Failure,
        cause: Option<op::Failure>,
    ) {
        match self.resource(slot).op.as_ref().map(|op| op.kind) {
            Some(OperationKind::ResolveDoubt) => return self.retry_doubt_later(env, slot),
            Some(OperationKind::Refresh) => return self.finish_well(env, slot),
            _ => {}
        }
        if let Some(cause) = cause
            && self.may_retry(slot, &cause)
        {
            return self.prepare_retry(env, slot, &failure, cause);
        }
        let Some(op) = self.take_operation(slot) else { return };
        if op.kind == OperationKind::DeleteSnapshot {
            return self.copy_not_removed(env, slot, &op, &failure.to_string());
        }
        let name = self.resource(slot).name.clone();
        // The first failure says more than those of the retries.
        let failure = match &op.first_failure {
            Some(first) => Failure::of(&name, first.clone()),
            None => failure,
        };
        let text = match op.is_stopping {
            true => self.abort_reason(slot, &op),
            false => failure.to_string(),
        };
        self.mark_failed(env, slot, &op, &text);
        let key = self.resource(slot).stack;
        let traversal = self.stack(key).traversal.as_ref();
        let own = traversal
            .zip(op.origin)
            .filter(|(traversal, (number, _))| *number == traversal.traversal_id);
        let is_current = own.is_some();
        let is_check = own.is_some_and(|(traversal, _)| traversal.action == Action::Check);
        if let (true, Some((_, node))) = (is_check, op.origin) {
            self.check_failed(key, slot, node, &text);
        } else if is_current && !op.is_stopping {
            self.node_failed(env, key, op.action, failure);
        }
        self.release_waiters(key, slot, &op, false);
    }

    /// It could not be found out whether there is an object: that is tried until it succeeds.
    pub(crate) fn retry_doubt_later(&mut self, env: &mut Env<'_>, slot: Slot) {
        let Some(op) = &mut self.change(slot).op else { return };
        op.failures = op.failures.saturating_add(1);
        op.journal = Journal::default();
        let until = env.now + backoff(op.failures);
        self.pause(slot, Pause::Retry(until), until);
    }

    pub(crate) fn mark_failed(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        op: &Operation,
        reason: &str,
    ) {
        let resource = self.change(slot);
        resource.is_doubtful |= op.journal.is_doubtful();
        let is_making = matches!(op.kind, OperationKind::Create | OperationKind::Update);
        resource.is_half_done |= is_making && resource.child.is_none();
        if resource.definition.is_none() {
            // If there is an object, then it is of this definition.
            resource.definition = op.target.clone();
            resource.requires = op.requires.clone();
        }
        for id in &op.requires {
            // The object may already use its new dependencies.
            if !resource.requires.contains(id) {
                resource.requires.push(*id);
            }
        }
        self.set_state(env, slot, State::new(op.action, Status::Failed), reason);
    }
}
