//! Recovery: after a restart, actions and operations go on where their records end.

use super::{Effect, Task};
use crate::state::{Action, Status};
use crate::tree::{Env, Pause, Slot, StackKey, Timer, Tree};
use kiln_resources::behaviour::OperationKind;

impl Tree {
    /// Starts or continues everything that is under way according to the records: in a tree that was just
    /// created, or in one whose owner is gone.
    pub fn resume(&mut self, env: &mut Env<'_>) -> Vec<Effect> {
        let keys: Vec<StackKey> = (0..self.stacks.len() as u32).map(StackKey).collect();
        for key in &keys {
            // Every stack comes after the one it is nested in.
            let drawn = self.bind_template(*key);
            if let (Err(reason), true) = (drawn, self.stack(*key).traversal.is_some()) {
                self.fail_traversal(
                    env,
                    *key,
                    super::traversal::StackFailure { reason, failure: None },
                );
            }
        }
        for key in &keys {
            self.resume_walk(env, *key);
        }
        let slots: Vec<Slot> = self.ops.values().copied().collect();
        for slot in slots {
            self.resume_op(env, slot);
        }
        self.run_queue(env);
        std::mem::take(&mut self.effects)
    }

    fn resume_walk(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = &self.stack(key).traversal else { return };
        let (deadline, grace_until) = (traversal.deadline, traversal.grace_until);
        let has_failed = traversal.failure.is_some();
        if self.has_own_deadline(key) {
            self.timers.insert((deadline, Timer::Stack(key)));
        }
        if let Some(grace_until) = grace_until {
            self.timers.insert((grace_until, Timer::Stack(key)));
        }
        if has_failed {
            self.queue.push_back(Task::MaybeFinish(key));
        } else {
            self.enter_phase(env, key);
        }
    }

    fn resume_op(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.resource(slot);
        let Some(op) = resource.op.as_deref() else { return };
        let (id, kind, action) = (op.id, op.kind, op.action);
        if let Some(Pause::Retry(time) | Pause::Stage(time)) = op.pause {
            self.timers.insert((time, Timer::Resource(slot, id)));
            return;
        }
        if let Some(child) = resource.child {
            // The nested stack goes on by itself, and ends the operation.
            if self.stack(child).traversal.is_some() {
                return;
            }
            let stack = self.stack(child);
            let is_done = stack.state.status == Status::Complete
                && matches!(kind, OperationKind::Create | OperationKind::Update)
                && stack.state.action != Action::Delete;
            if is_done && op.is_last_stage {
                self.finish_immediately(slot);
                return;
            }
        }
        if action == Action::Adopt && kind == OperationKind::Check {
            self.finish_immediately(slot);
            return;
        }
        self.dispatch(env, slot);
    }
}
