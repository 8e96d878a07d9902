//! The ends of operations: success, failure, or the request for a replacement.

use super::forward::Goal;
use super::reached::Transition;
use super::retry::backoff;
use super::{Effect, Machine, Task, Timer};
use crate::decide::{Announcement, Decision, differing};
use crate::failure::Failure;
use crate::state::{Action, State, Status};
use crate::tree::{Env, HalfDone, OpId, Operation, Origin, Pause, Slot, Tree, Work};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::constraints::offline;
use kiln_resources::op::{self, Journal, OpError};
use kiln_template::environment::Hook;
use kiln_template::{Members, Path, convert_properties};
use std::sync::Arc;

impl Machine {
    /// An operation reports its end. One that was stopped meanwhile has ended before.
    pub(crate) fn operation_ended(
        &mut self,
        env: &mut Env<'_>,
        op: OpId,
        result: Result<(), OpError>,
    ) {
        if let Some(slot) = self.slot_of_report(op) {
            self.finish(env, slot, result);
        }
    }

    /// Ends the operation on a resource with this step: no call is needed. Without an operation there is nothing
    /// to end, as of a nested stack that is through after its parent resource.
    pub(crate) fn finish_immediately(&mut self, slot: Slot) {
        if let Some(op) = &self.tree.resource(slot).op {
            // Before all other tasks, so that its beginning and its end are stored at once.
            self.queue.push_front(Task::FinishOperation(op.id));
        }
    }

    /// An operation is over.
    pub(crate) fn finish(&mut self, env: &mut Env<'_>, slot: Slot, result: Result<(), OpError>) {
        if self.tree.resource(slot).op.as_ref().is_some_and(|op| op.kind == OperationKind::Observe)
        {
            return self.object_observed(slot, &result);
        }
        let result = result.and_then(|()| self.tree.too_large_report(slot).map_or(Ok(()), Err));
        match result {
            Ok(()) => self.finish_well(env, slot),
            Err(OpError::Replace) => self.finish_replaced(env, slot),
            Err(OpError::Failed(failure)) => {
                let name = self.tree.resource(slot).summary.name.clone();
                let told = Failure::of(&name, failure.clone());
                self.finish_failed(env, slot, told, Some(failure));
            }
        }
    }

    /// Takes the operation off a resource.
    pub(crate) fn take_operation(&mut self, slot: Slot) -> Option<Box<Operation>> {
        let Some(op) = self.tree.change(slot).op.take() else {
            let key = self.tree.resource(slot).stack;
            self.unexpected(key, "an operation ends twice");
            return None;
        };
        self.tree.ops.remove(&op.id);
        if let Some(pause) = op.pause {
            self.timers.remove(&(pause.until(), Timer::Resource(slot, op.id)));
        }
        let key = self.tree.resource(slot).stack;
        self.tree.stack_mut(key).busy -= 1;
        Some(op)
    }

    /// An operation has succeeded.
    pub(crate) fn finish_well(&mut self, env: &mut Env<'_>, slot: Slot) {
        if self.tree.is_between_retries(slot) {
            return self.try_again(env, slot);
        }
        let Some(op) = self.take_operation(slot) else { return };
        if let Work::Resize(resizing) = &op.work {
            self.end_resize(env, slot, resizing, None);
            return self.release_waiters(self.tree.resource(slot).stack, slot, &op, false);
        }
        match op.kind {
            OperationKind::Refresh => {
                return self.release_waiters(self.tree.resource(slot).stack, slot, &op, true);
            }
            OperationKind::Cancel => {
                let key = self.tree.resource(slot).stack;
                self.release_waiters(key, slot, &op, false);
                // The traversal may have ended meanwhile, and passed over a resource that was busy.
                if self.tree.traversal(key).is_none() {
                    self.resolve_doubt(env, slot);
                }
                return;
            }
            OperationKind::DeleteSnapshot => return self.copy_removed(slot, &op),
            OperationKind::Snapshot => self.copy_made(slot, &op),
            _ => {}
        }
        let resource = self.tree.change(slot);
        if op.kind == OperationKind::ResolveDoubt {
            resource.is_doubtful = false;
            let key = resource.stack;
            self.reached.hit(Transition::DoubtResolved);
            return self.release_waiters(key, slot, &op, false);
        }
        if let Some(target) = &op.target {
            resource.half_done = None;
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
        self.tree.set_state(env, slot, State::new(op.action, Status::Complete), reason);
        if op.kind == OperationKind::Delete {
            return self.deleted(env, slot, &op);
        }
        if op.action == Action::Adopt && self.tree.is_external(slot) {
            return self.check_external(env, slot, op);
        }
        if matches!(op.kind, OperationKind::Create | OperationKind::Update) {
            self.start_cooldown(env, slot);
        }
        let key = self.tree.resource(slot).stack;
        let waits = self.pauses_after(env, slot, &op);
        match self.tree.own_node(key, &op).filter(|_| waits) {
            Some(node) => self.park(key, slot, node),
            // A node that claims the resource after a restart finds it at its hook.
            None => self.release_waiters(key, slot, &op, !waits),
        }
    }

    /// Whether a resource waits at the hook after an operation. Only the traversal under way waits at hooks, as long as it
    /// has not failed: an operation of an older one ends, and the newer one goes on with its resource.
    fn pauses_after(&mut self, env: &mut Env<'_>, slot: Slot, op: &Operation) -> bool {
        let key = self.tree.resource(slot).stack;
        let is_create = self.tree.stack(key).summary.state.action == Action::Create;
        let hook = match op.kind {
            OperationKind::Create if is_create => Some(Hook::PostCreate),
            OperationKind::Create => None,
            OperationKind::Update => Some(Hook::PostUpdate),
            _ => return false,
        };
        let has_failed = self.tree.traversal(key).is_none_or(|it| it.failure.is_some());
        if op.origin == Origin::Detached || has_failed {
            if hook.is_some_and(|hook| self.tree.has_hook(slot, hook)) {
                self.reached.hit(Transition::HookSkipped);
            }
            return false;
        }
        if !is_create {
            self.mark_hook_passed(slot, Hook::PreUpdate);
        }
        // After a restart a resource that waits at its hook may have been updated once more, and still waits.
        self.tree.is_at_post_hook(slot)
            || hook.is_some_and(|hook| self.pauses_at_hook(env, slot, hook, op.action))
    }

    /// The object of a resource was removed: so is its record, unless a hook is to be cleared first.
    pub(crate) fn deleted(&mut self, env: &mut Env<'_>, slot: Slot, op: &Operation) {
        self.reached.hit(Transition::ResourceDeleted);
        let key = self.tree.resource(slot).stack;
        let own_node = self.tree.own_node(key, op).filter(|_| self.tree.is_being_deleted(key));
        match own_node {
            Some(node) if self.pauses_at_hook(env, slot, Hook::PostDelete, Action::Delete) => {
                self.park(key, slot, node);
                self.queue.push_back(Task::MaybeFinish(key));
            }
            _ => self.removed(slot, op),
        }
    }

    /// The object of a resource was removed: so is its record.
    pub(crate) fn removed(&mut self, slot: Slot, op: &Operation) {
        let key = self.tree.resource(slot).stack;
        let is_own = self.tree.own_node(key, op).is_some();
        let slots = self.traversal_mut(key).filter(|_| !is_own).and_then(|it| it.slots_mut());
        match slots {
            // An operation of an older traversal has removed what this one was to remove.
            Some(slots) => {
                slots.forget(slot);
                let node = slots.schedule.unpark(slot);
                self.reached.hit(Transition::RemovedByOlderOperation);
                node.into_iter().for_each(|node| self.node_done(key, node));
            }
            None => self.release_waiters(key, slot, op, true),
        }
        self.queue.push_back(Task::MaybeFinish(key));
        self.effects.push(Effect::Changed(slot));
        self.tree.drop_resource(slot);
    }

    /// The handler of an update asks for a replacement, which begins if the traversal that began the update still goes
    /// forward.
    pub(crate) fn finish_replaced(&mut self, env: &mut Env<'_>, slot: Slot) {
        let Some(op) = self.take_operation(slot) else { return };
        self.reached.hit(Transition::ReplacedByHandler);
        let key = self.tree.resource(slot).stack;
        self.announce_replacement(env, slot);
        let is_forward = self
            .tree
            .traversal(key)
            .is_some_and(|traversal| traversal.failure.is_none() && traversal.is_forward());
        let own_node = self.tree.own_node(key, &op).filter(|_| is_forward);
        let blueprint = self.tree.stack(key).blueprint.clone();
        let (Some(at), Some(blueprint), Some(definition)) =
            (own_node, blueprint, op.target.clone())
        else {
            return self.release_waiters(key, slot, &op, false);
        };
        let resolved_type = blueprint.type_at(at);
        let goal = Goal { at, resolved_type, definition, requires: op.requires };
        self.apply_decision(env, slot, goal, Decision::Replace(Announcement::Silent));
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
        match self.tree.resource(slot).op.as_ref().map(|op| op.kind) {
            Some(OperationKind::ResolveDoubt) => return self.retry_doubt_later(env, slot),
            Some(OperationKind::Refresh | OperationKind::Cancel) => {
                return self.finish_well(env, slot);
            }
            _ => {}
        }
        if let Some(cause) = cause
            && self.tree.may_retry(slot, &cause)
        {
            return self.prepare_retry(env, slot, &failure, cause);
        }
        let Some(op) = self.take_operation(slot) else { return };
        if let Work::Resize(resizing) = &op.work {
            self.end_resize(env, slot, resizing, Some(&failure.to_string()));
            return self.release_waiters(self.tree.resource(slot).stack, slot, &op, false);
        }
        self.reached.hit(Transition::OperationFailed);
        if op.kind == OperationKind::DeleteSnapshot {
            return self.copy_not_removed(env, slot, &op, &failure.to_string());
        }
        let name = self.tree.resource(slot).summary.name.clone();
        // The first failure says more than those of the retries.
        let first_failure = op.handler().and_then(|run| run.first_failure.as_ref());
        let failure = match first_failure {
            Some(first) => Failure::of(&name, first.clone()),
            None => failure,
        };
        let key = self.tree.resource(slot).stack;
        // The failure of a nested stack that was cancelled tells that itself.
        let is_aborted = op.is_stopping && (op.handler().is_some() || self.tree.has_timed_out(key));
        let text = match is_aborted {
            true => self.tree.abort_reason(slot, &op),
            false => failure.to_string(),
        };
        self.mark_failed(env, slot, &op, &text);
        let traversal = self.tree.traversal(key);
        let is_check = traversal.is_some_and(|traversal| traversal.action == Action::Check);
        match self.tree.own_node(key, &op) {
            Some(node) if is_check => self.check_failed(key, slot, node, &text),
            Some(_) if !op.is_stopping => self.node_failed(env, key, op.action, failure),
            _ => {}
        }
        self.release_waiters(key, slot, &op, false);
    }

    /// It could not be found out whether there is an object: that is tried until it succeeds.
    pub(crate) fn retry_doubt_later(&mut self, env: &mut Env<'_>, slot: Slot) {
        self.reached.hit(Transition::DoubtRetried);
        let op = self.tree.change(slot).op.as_mut();
        let Some(run) = op.and_then(|op| op.handler_mut()) else {
            let key = self.tree.resource(slot).stack;
            return self.unexpected(key, "a nested stack is in doubt");
        };
        run.failures = run.failures.saturating_add(1);
        run.journal = Journal::default();
        let until = env.now + backoff(run.failures);
        self.pause(slot, Pause::Retry(until));
    }

    pub(crate) fn mark_failed(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        op: &Operation,
        reason: &str,
    ) {
        let resource = self.tree.change(slot);
        resource.is_doubtful |= op.is_doubtful();
        if op.is_doubtful() {
            self.reached.hit(Transition::DoubtLeft);
        }
        self.tree.mark_half_done(slot, op);
        let resource = self.tree.change(slot);
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
        self.tree.set_state(env, slot, State::new(op.action, Status::Failed), reason);
    }
}

impl Tree {
    /// Records what a failed operation may have left undone.
    fn mark_half_done(&mut self, slot: Slot, op: &Operation) {
        let half_done = match op.kind {
            OperationKind::Create => HalfDone::Create,
            OperationKind::Update => match self.resource(slot).half_done.clone() {
                Some(known @ (HalfDone::Create | HalfDone::Unknown)) => known,
                Some(HalfDone::Update(attempted)) => {
                    let mut attempted = Arc::unwrap_or_clone(attempted);
                    attempted.extend(self.attempted(slot, op));
                    HalfDone::Update(attempted.into())
                }
                None => HalfDone::Update(self.attempted(slot, op).into()),
            },
            _ => return,
        };
        self.change(slot).half_done = Some(half_done);
    }

    /// The properties that an update was to change, with their new values.
    fn attempted(&self, slot: Slot, op: &Operation) -> Members {
        let resource = self.resource(slot);
        let resource_type = self.config.types.get(&resource.summary.type_name);
        // A nested stack knows itself what it has yet to do.
        let resource_type = resource_type.filter(|_| resource.child.is_none());
        let (Some(resource_type), Some(before), Some(target)) =
            (resource_type, &resource.definition, &op.target)
        else {
            return Members::new();
        };
        let convert = |members: &Members| {
            convert_properties(&resource_type.schema, members, &offline(0), &Path::Root).0
        };
        let (mut before, after) = (convert(&before.properties), convert(&target.properties));
        let drifted = op.handler().into_iter().flat_map(|run| run.drifted.iter());
        before.extend(drifted.map(|(name, value)| (name.clone(), value.clone())));
        let value = |name: &Arc<str>| after.get(name).cloned().unwrap_or_default();
        differing(&before, &after).into_iter().map(|name| (name.clone(), value(&name))).collect()
    }

    /// The failure of an operation that reported more than is kept. Removing an object succeeds nevertheless.
    fn too_large_report(&mut self, slot: Slot) -> Option<OpError> {
        let op = self.resource_mut(slot).op.as_mut()?;
        let failure = op.handler_mut()?.too_large.take()?;
        (op.kind != OperationKind::Delete).then_some(OpError::Failed(failure))
    }
}
