//! Stopping operations.

use super::reached::Transition;
use super::timers::TIMED_OUT;
use super::{Effect, Machine};
use crate::ids::PhysicalId;
use crate::state::Action;
use crate::tree::{Env, OpId, Operation, Origin, Slot, StackKey, Tree, Work};
use kiln_resources::behaviour::OperationKind;

impl Machine {
    /// Stops all operations in a stack and below it.
    pub(crate) fn stop_all(&mut self, env: &mut Env<'_>, key: StackKey) {
        let has_traversal = self.tree.traversal(key).is_some();
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        for slot in slots {
            let resource = self.tree.resource(slot);
            match (&resource.op, resource.child) {
                // After the end of a traversal no node waits for these operations, and no later one would resolve the doubts.
                (Some(op), _) if op.kind == OperationKind::ResolveDoubt && !has_traversal => {}
                (Some(_), _) => self.stop_operation(env, slot),
                (None, Some(child)) => self.stop_nested(env, child),
                (None, None) => {}
            }
        }
    }

    /// Stops the operation on a resource, and all that it has begun in its nested stack.
    pub(crate) fn stop_operation(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.tree.resource_mut(slot);
        let child = resource.child;
        let Some(op) = &mut resource.op else { return };
        if std::mem::replace(&mut op.is_stopping, true) {
            return;
        }
        let (id, is_paused) = (op.id, op.pause.is_some());
        let child = child.filter(|child| self.tree.stack(*child).traversal.is_some());
        match child {
            _ if is_paused => {
                self.reached.hit(Transition::PausedOperationStopped);
                self.operation_stopped(env, id);
            }
            Some(child) => self.cancel_traversal(env, child),
            None => self.effects.push(Effect::Stop(id)),
        }
    }

    /// An operation was stopped. It may have ended by itself before.
    pub(crate) fn operation_stopped(&mut self, env: &mut Env<'_>, op: OpId) {
        let Some(slot) = self.slot_of_report(op) else { return };
        let Some(op) = self.take_operation(slot) else { return };
        self.reached.hit(Transition::OperationStopped);
        let key = self.tree.resource(slot).stack;
        if let Work::Resize(resizing) = &op.work {
            let reason = self.tree.abort_reason(slot, &op);
            self.end_resize(env, slot, resizing, Some(&reason));
            return self.release_waiters(key, slot, &op, false);
        }
        if matches!(
            op.kind,
            OperationKind::ResolveDoubt
                | OperationKind::Refresh
                | OperationKind::Observe
                | OperationKind::Cancel
        ) {
            let is_done = op.kind == OperationKind::Refresh;
            return self.release_waiters(key, slot, &op, is_done);
        }
        let text = self.tree.abort_reason(slot, &op);
        if op.kind == OperationKind::DeleteSnapshot {
            return self.copy_not_removed(env, slot, &op, &text);
        }
        self.mark_failed(env, slot, &op, &text);
        if self.tree.tells_of_cancel(slot) {
            // What waits for the resource goes on after that.
            return self.start_cancel(env, slot, op.action);
        }
        self.release_waiters(key, slot, &op, false);
    }

    /// Has the type of a resource tell its service that an operation was stopped. The state of the resource does not change
    /// by that.
    fn start_cancel(&mut self, env: &mut Env<'_>, slot: Slot, action: Action) {
        self.reached.hit(Transition::CancelStarted);
        self.put_operation(slot, Origin::Detached, OperationKind::Cancel, action);
        self.dispatch(env, slot);
    }
}

impl Tree {
    /// Whether the type of a resource has a handler for operations that were stopped.
    fn tells_of_cancel(&self, slot: Slot) -> bool {
        self.builtin_type(self.resource(slot)).is_some_and(|it| it.behaviour.cancel.is_some())
    }

    /// Whether the action on a stack fails because it has taken too long.
    pub(crate) fn has_timed_out(&self, key: StackKey) -> bool {
        let failure = self.traversal(key).and_then(|traversal| traversal.failure.as_ref());
        failure.is_some_and(|failure| failure.reason == TIMED_OUT)
    }

    /// The reason of a resource whose operation was stopped.
    pub(crate) fn abort_reason(&self, slot: Slot, op: &Operation) -> String {
        let resource = self.resource(slot);
        let stack = self.stack(resource.stack);
        let action = op.action;
        if !self.has_timed_out(resource.stack) {
            return format!("{action} aborted (user triggered cancel)");
        }
        let class = resource.summary.type_name.rsplit("::").next().unwrap_or_default();
        let id =
            resource.summary.physical_id.as_ref().map_or_else(|| "None".into(), PhysicalId::shown);
        let kind = action.verb();
        format!(
            "{action} aborted (Task {kind} from {class} \"{}\" [{id}] Stack \"{}\" [{}] Timed out)",
            resource.summary.name, stack.summary.name, stack.id
        )
    }
}
