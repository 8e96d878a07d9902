//! Stopping operations.

use super::Effect;
use super::timers::TIMED_OUT;
use crate::tree::{Env, OpId, Operation, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;

impl Tree {
    /// Stops all operations in a stack and below it.
    pub(crate) fn stop_all(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        for slot in slots {
            let resource = self.resource_mut(slot);
            let child = resource.child;
            let Some(op) = &mut resource.op else {
                if let Some(child) = child {
                    self.stop_nested(env, child);
                }
                continue;
            };
            if std::mem::replace(&mut op.is_stopping, true) {
                continue;
            }
            let (id, is_paused) = (op.id, op.pause.is_some());
            let child = child.filter(|child| self.stack(*child).traversal.is_some());
            match child {
                _ if is_paused => self.operation_stopped(env, id),
                Some(child) => self.cancel_traversal(env, child),
                None => self.effects.push(Effect::Stop(id)),
            }
        }
    }

    pub(crate) fn operation_stopped(&mut self, env: &mut Env<'_>, op: OpId) {
        let Some(slot) = self.slot_of(op) else { return };
        let Some(op) = self.take_operation(slot) else { return };
        if matches!(
            op.kind,
            OperationKind::ResolveDoubt | OperationKind::Refresh | OperationKind::Observe
        ) {
            let is_done = op.kind == OperationKind::Refresh;
            return self.release_waiters(self.resource(slot).stack, slot, &op, is_done);
        }
        let text = self.abort_reason(slot, &op);
        if op.kind == OperationKind::DeleteSnapshot {
            return self.copy_not_removed(env, slot, &op, &text);
        }
        self.mark_failed(env, slot, &op, &text);
        self.release_waiters(self.resource(slot).stack, slot, &op, false);
    }

    pub(crate) fn abort_reason(&self, slot: Slot, op: &Operation) -> String {
        let resource = self.resource(slot);
        let stack = self.stack(resource.stack);
        let ending = stack.traversal.as_ref().and_then(|traversal| traversal.failure.as_ref());
        let action = op.action;
        if ending.is_none_or(|ending| ending.reason != TIMED_OUT) {
            return format!("{action} aborted (user triggered cancel)");
        }
        let class = resource.type_name.rsplit("::").next().unwrap_or_default();
        let id = resource.physical_id.as_deref().unwrap_or("None");
        let kind = action.verb();
        format!(
            "{action} aborted (Task {kind} from {class} \"{}\" [{id}] Stack \"{}\" [{}] Timed out)",
            resource.name, stack.name, stack.id
        )
    }
}
