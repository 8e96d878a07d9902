//! Timers: actions that time out, and pauses that are over.

use super::reached::Transition;
use super::traversal::{Phase, StackFailure};
use super::{Machine, Timer};
use crate::state::{State, Status};
use crate::tree::{Env, OpId, Pause, Slot, StackKey};
use kiln_resources::behaviour::OperationKind;

/// The reason of a stack whose action took too long.
pub(crate) const TIMED_OUT: &str = "Timed out";

impl Machine {
    pub(crate) fn tick(&mut self, env: &mut Env<'_>) {
        while let Some((time, timer)) = self.timers.first().copied() {
            if time > env.now {
                break;
            }
            self.timers.remove(&(time, timer));
            match timer {
                Timer::Stack(key) => self.stack_timer_fired(env, key),
                Timer::Resource(slot, id) => self.operation_timer_fired(env, slot, id),
            }
            self.run_queue(env);
        }
    }

    /// The time of a stack's traversal, or of winding it down, is over. The timer may have outlived both.
    pub(crate) fn stack_timer_fired(&mut self, env: &mut Env<'_>, key: StackKey) {
        if !self.tree.has_stack(key) {
            return;
        }
        let Some(traversal) = self.tree.traversal(key) else { return };
        let is_late = traversal.deadline <= env.now;
        let is_grace_over = traversal.grace_until.is_some_and(|grace_until| grace_until <= env.now);
        match (&traversal.failure, &traversal.phase) {
            (None, Phase::Refresh(_)) => {
                // Everything is done: what cannot be read in time stays as it was last seen.
                self.reached.hit(Transition::RefreshStopped);
                self.stop_all(env, key);
            }
            (None, _) if is_late => {
                self.reached.hit(Transition::TraversalTimedOut);
                self.fail_traversal(env, key, StackFailure::new(TIMED_OUT));
                self.stop_all(env, key);
            }
            (Some(_), _) if is_grace_over || is_late => {
                self.reached.hit(Transition::GraceOver);
                self.stop_all(env, key);
            }
            _ => {}
        }
    }

    /// The pause of an operation is over. The timer goes with the operation, so both are there.
    pub(crate) fn operation_timer_fired(&mut self, env: &mut Env<'_>, slot: Slot, id: OpId) {
        if self.tree.slot_of(id) != Some(slot) {
            return self.unexpected(self.tree.root_key(), "a timer has outlived its operation");
        }
        let resource = self.tree.change(slot);
        let key = resource.stack;
        let op = resource.op.as_mut();
        let Some((op, pause)) = op.and_then(|op| op.pause.take().map(|pause| (op, pause))) else {
            return self.unexpected(key, "a timer has outlived the pause of its operation");
        };
        match pause {
            Pause::Retry(_) if op.kind == OperationKind::ResolveDoubt => self.dispatch(env, slot),
            Pause::Retry(_) => {
                let in_progress = State::new(op.action, Status::InProgress);
                self.tree.set_state(env, slot, in_progress, "state changed");
                self.dispatch(env, slot);
            }
            Pause::Stage(_) => self.start_next_stage(env, slot),
        }
    }
}
