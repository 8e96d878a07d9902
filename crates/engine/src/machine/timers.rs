//! Timers: actions that time out, and pauses that are over.

use super::Phase;
use super::traversal::StackFailure;
use crate::state::{State, Status};
use crate::tree::{Env, OpId, Pause, Slot, StackKey, Timer, Tree};
use kiln_resources::behaviour::OperationKind;

/// The reason of a stack whose action took too long.
pub(crate) const TIMED_OUT: &str = "Timed out";

impl Tree {
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

    pub(crate) fn stack_timer_fired(&mut self, env: &mut Env<'_>, key: StackKey) {
        if self.stacks[key.0 as usize].is_none() {
            return;
        }
        let Some(traversal) = &self.stack(key).traversal else { return };
        if traversal.phase == Phase::Refresh && traversal.failure.is_none() {
            // All is done: what cannot be looked at in time stays as it was last seen.
            return self.stop_all(env, key);
        }
        if traversal.deadline <= env.now && traversal.failure.is_none() {
            let reason = TIMED_OUT.to_owned();
            self.fail_traversal(env, key, StackFailure { reason, failure: None });
            return self.stop_all(env, key);
        }
        let is_grace_over = traversal.grace_until.is_some_and(|grace_until| grace_until <= env.now);
        if is_grace_over || traversal.deadline <= env.now && traversal.failure.is_some() {
            self.stop_all(env, key);
        }
    }

    pub(crate) fn operation_timer_fired(&mut self, env: &mut Env<'_>, slot: Slot, id: OpId) {
        if self.slot_of(id) != Some(slot) {
            return;
        }
        let Some(op) = &mut self.change(slot).op else { return };
        let Some(pause) = op.pause.take() else { return };
        match pause {
            Pause::Retry(_) if op.kind == OperationKind::ResolveDoubt => self.dispatch(env, slot),
            Pause::Retry(_) => {
                let in_progress = State::new(op.action, Status::InProgress);
                self.set_state(env, slot, in_progress, "state changed");
                self.dispatch(env, slot);
            }
            Pause::Stage(_) => self.start_next_stage(env, slot),
        }
    }
}
