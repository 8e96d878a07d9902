//! Recovery: after a restart, actions and operations go on where their records end.

use super::reached::Transition;
use super::traversal::StackFailure;
use super::{Effect, Machine, Task, Timer};
use crate::state::{Action, Status};
use crate::tree::{Env, Slot, StackKey};
use kiln_resources::behaviour::OperationKind;

impl Machine {
    /// Starts or continues everything that is under way according to the records: in a tree that was just
    /// created, or in one whose owner is gone.
    pub(crate) fn resume(&mut self, env: &mut Env<'_>) -> Vec<Effect> {
        let keys: Vec<StackKey> = (0..self.tree.stacks.len() as u32).map(StackKey).collect();
        for key in &keys {
            // Every stack comes after the one it is nested in.
            let bound = self.tree.bind_template(*key);
            if let (Err(reason), true) = (bound, self.tree.traversal(*key).is_some()) {
                self.fail_traversal(env, *key, StackFailure::new(reason));
            }
        }
        for key in &keys {
            self.resume_traversal(env, *key);
        }
        let slots: Vec<Slot> = self.tree.ops.values().copied().collect();
        for slot in slots {
            self.resume_operation(env, slot);
        }
        self.run_queue(env);
        self.end_step(env)
    }

    fn resume_traversal(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = self.tree.traversal(key) else { return };
        let (deadline, grace_until) = (traversal.deadline, traversal.grace_until);
        let has_failed = traversal.failure.is_some();
        if self.tree.has_own_deadline(key) || self.tree.has_outlived_parent_traversal(key) {
            self.timers.insert((deadline, Timer::Stack(key)));
        }
        if let Some(grace_until) = grace_until {
            self.timers.insert((grace_until, Timer::Stack(key)));
        }
        if has_failed {
            self.reached.hit(Transition::FailedTraversalResumed);
            self.queue.push_back(Task::MaybeFinish(key));
        } else {
            self.reached.hit(Transition::TraversalResumed);
            self.enter_phase(env, key);
        }
    }

    fn resume_operation(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.tree.resource(slot);
        let Some(op) = resource.op.as_deref() else {
            return self.unexpected(resource.stack, "an operation that is not there goes on");
        };
        let (id, kind, action) = (op.id, op.kind, op.action);
        if let Some(pause) = op.pause {
            self.reached.hit(Transition::PauseResumed);
            self.timers.insert((pause.until(), Timer::Resource(slot, id)));
            return;
        }
        if let Some(child) = resource.child {
            // The nested stack goes on by itself, and ends the operation.
            if self.tree.traversal(child).is_some() {
                return self.reached.hit(Transition::NestedResumed);
            }
            let state = self.tree.stack(child).summary.state;
            let is_done = state.status == Status::Complete
                && matches!(kind, OperationKind::Create | OperationKind::Update)
                && state.action != Action::Delete;
            if is_done && op.stages().is_some_and(|stages| stages.is_last) {
                return self.finish_immediately(slot);
            }
        }
        if action == Action::Adopt && kind == OperationKind::Check {
            return self.finish_immediately(slot);
        }
        self.reached.hit(Transition::OperationResumed);
        self.dispatch(env, slot);
    }
}
