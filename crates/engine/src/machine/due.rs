//! What is due: actions that took too long, pauses that are over.

use super::Phase;
use super::walk::Ending;
use crate::state::{State, Status};
use crate::tree::{Env, OpId, Pause, Slot, StackKey, Timer, Tree};
use kiln_resources::behaviour::Verb;

/// The reason of a stack whose action took too long.
pub(crate) const TIMED_OUT: &str = "Timed out";

impl Tree {
    pub(crate) fn time(&mut self, env: &mut Env<'_>) {
        while let Some((time, timer)) = self.timers.first().copied() {
            if time > env.now {
                break;
            }
            self.timers.remove(&(time, timer));
            match timer {
                Timer::Stack(key) => self.stack_is_due(env, key),
                Timer::Resource(slot, id) => self.resource_is_due(env, slot, id),
            }
            self.work_off(env);
        }
    }

    pub(crate) fn stack_is_due(&mut self, env: &mut Env<'_>, key: StackKey) {
        if self.stacks[key.0 as usize].is_none() {
            return;
        }
        let Some(walk) = &self.stack(key).walk else { return };
        if walk.phase == Phase::Look && walk.failure.is_none() {
            // All is done: what cannot be looked at in time stays as it was last seen.
            return self.stop_all(env, key);
        }
        if walk.deadline <= env.now && walk.failure.is_none() {
            let reason = TIMED_OUT.to_owned();
            self.fail_walk(env, key, Ending { reason, failure: None });
            return self.stop_all(env, key);
        }
        let is_out_of_patience = walk.patience.is_some_and(|patience| patience <= env.now);
        if is_out_of_patience || walk.deadline <= env.now && walk.failure.is_some() {
            self.stop_all(env, key);
        }
    }

    pub(crate) fn resource_is_due(&mut self, env: &mut Env<'_>, slot: Slot, id: OpId) {
        if self.slot_of(id) != Some(slot) {
            return;
        }
        let Some(op) = &mut self.change(slot).op else { return };
        let Some(pause) = op.pause.take() else { return };
        match pause {
            Pause::Retry(_) if op.verb == Verb::Settle => self.go(env, slot),
            Pause::Retry(_) => {
                let in_progress = State::new(op.action, Status::InProgress);
                self.set_state(env, slot, in_progress, "state changed");
                self.go(env, slot);
            }
            Pause::Stage(_) => self.next_stage(env, slot),
        }
    }
}
