//! Stopping operations.

use super::reached::Transition;
use super::timers::TIMED_OUT;
use super::{Effect, Machine};
use crate::ids::PhysicalId;
use crate::tree::{Env, OpId, Operation, Slot, StackKey, Tree, Work};
use kiln_resources::behaviour::OperationKind;

impl Machine {
    /// Stops all operations in a stack and below it.
    pub(crate) fn stop_all(&mut self, env: &mut Env<'_>, key: StackKey) {
        let has_traversal = self.tree.traversal(key).is_some();
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        for slot in slots {
            let resource = self.tree.resource_mut(slot);
            let child = resource.child;
            let Some(op) = &mut resource.op else {
                if let Some(child) = child {
                    self.stop_nested(env, child);
                }
                continue;
            };
            // After the end of a traversal no node waits for these operations, and no later one would resolve the doubts.
            if op.kind == OperationKind::ResolveDoubt && !has_traversal {
                continue;
            }
            if std::mem::replace(&mut op.is_stopping, true) {
                continue;
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
            OperationKind::ResolveDoubt | OperationKind::Refresh | OperationKind::Observe
        ) {
            let is_done = op.kind == OperationKind::Refresh;
            return self.release_waiters(key, slot, &op, is_done);
        }
        let text = self.tree.abort_reason(slot, &op);
        if op.kind == OperationKind::DeleteSnapshot {
            return self.copy_not_removed(env, slot, &op, &text);
        }
        self.mark_failed(env, slot, &op, &text);
        self.release_waiters(key, slot, &op, false);
    }
}

impl Tree {
    pub(crate) fn abort_reason(&self, slot: Slot, op: &Operation) -> String {
        let resource = self.resource(slot);
        let stack = self.stack(resource.stack);
        let failure = stack.traversal.as_ref().and_then(|traversal| traversal.failure.as_ref());
        let action = op.action;
        if failure.is_none_or(|failure| failure.reason != TIMED_OUT) {
            return format!("{action} aborted (user triggered cancel)");
        }
        let class = resource.type_name.rsplit("::").next().unwrap_or_default();
        let id = resource.physical_id.as_ref().map_or_else(|| "None".into(), PhysicalId::shown);
        let kind = action.verb();
        format!(
            "{action} aborted (Task {kind} from {class} \"{}\" [{id}] Stack \"{}\" [{}] Timed out)",
            resource.name, stack.name, stack.id
        )
    }
}
