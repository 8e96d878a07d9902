//! Stopping what is under way.

use super::Effect;
use super::due::TIMED_OUT;
use crate::tree::{Env, OpId, Operation, Slot, StackKey, Tree};
use kiln_resources::behaviour::Verb;

impl Tree {
    /// Stops everything that is under way in a stack and below it.
    pub(crate) fn stop_all(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        for slot in slots {
            let resource = self.resource_mut(slot);
            let child = resource.child;
            let Some(op) = &mut resource.op else {
                if let Some(child) = child {
                    self.stop_below(env, child);
                }
                continue;
            };
            if std::mem::replace(&mut op.is_stopping, true) {
                continue;
            }
            let (id, is_paused) = (op.id, op.pause.is_some());
            let child = child.filter(|child| self.stack(*child).walk.is_some());
            match child {
                _ if is_paused => self.stopped(env, id),
                Some(child) => self.cancel(env, child),
                None => self.effects.push(Effect::Stop(id)),
            }
        }
    }

    pub(crate) fn stopped(&mut self, env: &mut Env<'_>, op: OpId) {
        let Some(slot) = self.slot_of(op) else { return };
        let Some(op) = self.take_op(slot) else { return };
        if matches!(op.verb, Verb::Settle | Verb::Look | Verb::Observe) {
            let is_done = op.verb == Verb::Look;
            return self.settled(self.resource(slot).stack, slot, &op, is_done);
        }
        let text = self.aborted(slot, &op);
        if op.verb == Verb::Forget {
            return self.not_forgotten(env, slot, &op, &text);
        }
        self.mark_failed(env, slot, &op, &text);
        self.settled(self.resource(slot).stack, slot, &op, false);
    }

    pub(crate) fn aborted(&self, slot: Slot, op: &Operation) -> String {
        let resource = self.resource(slot);
        let stack = self.stack(resource.stack);
        let ending = stack.walk.as_ref().and_then(|walk| walk.failure.as_ref());
        let action = op.action;
        if ending.is_none_or(|ending| ending.reason != TIMED_OUT) {
            return format!("{action} aborted (user triggered cancel)");
        }
        let class = resource.kind.rsplit("::").next().unwrap_or_default();
        let id = resource.physical_id.as_deref().unwrap_or("None");
        let verb = action.verb();
        format!(
            "{action} aborted (Task {verb} from {class} \"{}\" [{id}] Stack \"{}\" [{}] Timed out)",
            resource.name, stack.name, stack.id
        )
    }
}
