//! The end of a traversal: complete, failed, or rolled back.

use super::reached::Transition;
use super::traversal::{
    CheckReport, Objects, OnFailure, Phase, StackFailure, Traversal, TraversalSpec,
};
use super::{Machine, Task, Timer};
use crate::blueprint::Recipe;
use crate::failure::{Failure, cut};
use crate::ids::RecipeId;
use crate::state::{Action, State, Status};
use crate::tree::{Env, Operation, Pause, Slot, StackKey};
use kiln_template::Members;
use kiln_template::environment::Environment;
use std::sync::Arc;

/// No reason of a stack is longer.
const MAX_REASON: usize = 65_535;

/// What a check that passed over some resources says.
const CHECK_INCOMPLETE: &str = ". 'CHECK' not fully supported (see resources)";

impl Machine {
    /// A resource failed, and so does the traversal.
    pub(crate) fn node_failed(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        action: Action,
        failure: Failure,
    ) {
        let mut reason = format!("Resource {action} failed: {failure}");
        cut(&mut reason, MAX_REASON);
        self.fail_traversal(env, key, StackFailure { reason, failure: Some(failure) });
    }

    /// The traversal fails. Operations that are running may go on for a while. A stack may have come to its end
    /// before what it waited for does: then nothing is left that could fail.
    pub(crate) fn fail_traversal(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        failure: StackFailure,
    ) {
        let grace_until = env.now + self.tree.config.error_wait;
        let Some(traversal) = self.traversal_mut(key) else { return };
        if traversal.failure.is_none() {
            traversal.failure = Some(failure);
            traversal.grace_until = Some(grace_until);
            self.tree.changes.stacks.insert(key);
            self.timers.insert((grace_until, Timer::Stack(key)));
        }
        self.queue.push_back(Task::MaybeFinish(key));
    }

    /// Fails a stack's traversal, and stops all of its operations.
    pub(crate) fn cancel_traversal(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = self.traversal_mut(key) else { return };
        traversal.on_failure = OnFailure::Stay;
        let reason = format!("Stack {} cancelled", traversal.action);
        self.fail_traversal(env, key, StackFailure::new(reason));
        self.stop_all(env, key);
    }

    /// Cancels a stack's traversal without a rollback: the stack has failed at once, nothing more is begun, and operations
    /// that are running go on to their end. So it is in the stacks nested in it.
    pub(crate) fn wind_down(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = self.traversal_mut(key).filter(|it| it.failure.is_none()) else {
            return;
        };
        let (action, deadline) = (traversal.action, traversal.deadline);
        let reason = format!("Stack {action} cancelled");
        traversal.on_failure = OnFailure::Stay;
        traversal.failure = Some(StackFailure::new(&*reason));
        traversal.grace_until = Some(deadline);
        self.timers.insert((deadline, Timer::Stack(key)));
        self.tree.set_stack_state(env, key, State::new(action, Status::Failed), &reason);
        if self.tree.stack(key).busy > 0 {
            self.reached.hit(Transition::TraversalWindsDown);
        }
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        for slot in slots {
            let resource = self.tree.resource(slot);
            match (resource.op.as_deref(), resource.child) {
                (Some(op), _) if op.resizing().is_some() => {}
                // Between two stages of a group nothing is running.
                (Some(Operation { pause: Some(Pause::Stage(_)), .. }), _) => {
                    self.stop_operation(env, slot);
                }
                (_, Some(child))
                    if self.tree.traversal(child).is_some_and(|it| !it.is_deferred()) =>
                {
                    self.wind_down(env, child);
                }
                _ => {}
            }
        }
        self.queue.push_back(Task::MaybeFinish(key));
    }

    /// Ends a traversal, or a phase of it, if that is over. The task may have outlived the stack and its traversal.
    pub(crate) fn maybe_finish(&mut self, env: &mut Env<'_>, key: StackKey) {
        if !self.tree.has_stack(key) {
            return;
        }
        let stack = self.tree.stack(key);
        let Some(traversal) = &stack.traversal else { return };
        let is_busy = stack.busy > 0;
        if traversal.failure.is_some() {
            if is_busy || self.awaits_cleanup(key) {
                return;
            }
            return self.end_failed(env, key);
        }
        if !traversal.schedule().is_some_and(|schedule| schedule.is_done()) {
            return;
        }
        match traversal.phase {
            Phase::Forward(_) if self.tree.defers_cleanup(key) => self.defer_cleanup(key),
            Phase::Forward(_) if self.tree.has_outlived_parent_traversal(key) => {
                self.reached.hit(Transition::OutlivedParentTraversal);
                self.start_cleanup_of_removed(env, key);
            }
            Phase::Forward(_) => self.start_cleanup(key),
            Phase::Cleanup(_) if is_busy => {}
            Phase::Cleanup(_) => self.start_refresh(env, key),
            Phase::Refresh(_) | Phase::ForEach(_) => self.complete_traversal(env, key),
            // These have no schedule.
            Phase::Pending | Phase::Deferred => {}
        }
    }

    /// Whether a cleanup that has failed goes on for now: nodes are queued, or nested stacks clean up.
    fn awaits_cleanup(&self, key: StackKey) -> bool {
        match self.tree.traversal(key).map(|traversal| &traversal.phase) {
            Some(Phase::Cleanup(it)) => {
                let mut parked = it.schedule.parked();
                it.schedule.has_queued()
                    || parked.any(|(slot, _)| self.tree.has_deferred_cleanup(slot))
            }
            _ => false,
        }
    }

    /// Ends the traversal of a stack.
    pub(crate) fn take_traversal(&mut self, key: StackKey) -> Option<Box<Traversal>> {
        self.cancel_timers(key);
        let traversal = self.tree.stack_mut(key).traversal.take()?;
        self.tree.active_traversals -= 1;
        self.tree.announced -= traversal.announced;
        Some(traversal)
    }

    /// The traversal of a stack is over, and has succeeded.
    pub(crate) fn complete_traversal(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = self.take_traversal(key) else {
            return self.unexpected(key, "a traversal ends twice");
        };
        let action = traversal.action;
        if !traversal.check.failures.is_empty() {
            return self.fail_check(env, key, &traversal.check);
        }
        self.reached.hit(Transition::TraversalCompleted);
        let previous = self.tree.stack_mut(key).previous.take();
        if let Some(recipe) = previous {
            self.tree.drop_recipe(key, recipe.id);
        }
        let mut reason = format!("Stack {action} completed successfully");
        if traversal.check.is_incomplete {
            reason.push_str(CHECK_INCOMPLETE);
        }
        if action == Action::Delete {
            self.tree.stack_mut(key).summary.deleted = Some(env.now);
        }
        self.finish_snapshot(key, traversal.snapshot, Ok(&reason));
        self.tree.set_stack_state(env, key, State::new(action, Status::Complete), &reason);
        // A resource that failed before may have been kept, with a call of it still in doubt.
        self.resolve_doubts(env, key);
        self.nested_traversal_ended(env, key, Ok(()));
    }

    fn fail_check(&mut self, env: &mut Env<'_>, key: StackKey, report: &CheckReport) {
        self.reached.hit(Transition::CheckFailed);
        let mut reason = format!("Resource CHECK failed: {}", report.failures.join("; "));
        cut(&mut reason, MAX_REASON - CHECK_INCOMPLETE.len());
        if report.is_incomplete {
            reason.truncate(reason.trim_end_matches('.').len());
            reason.push_str(CHECK_INCOMPLETE);
        }
        self.tree.set_stack_state(env, key, State::new(Action::Check, Status::Failed), &reason);
        self.nested_traversal_ended(env, key, Err(StackFailure::new(reason)));
    }

    fn end_failed(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some((traversal, failure)) = self.take_traversal(key).and_then(|mut traversal| {
            let failure = traversal.failure.take()?;
            Some((traversal, failure))
        }) else {
            return self.unexpected(key, "a traversal fails without a failure");
        };
        self.reached.hit(Transition::TraversalFailed);
        let action = traversal.action;
        self.finish_snapshot(key, traversal.snapshot, Err(&failure.reason));
        self.abandon_hooks(env, key);
        let failed = State::new(action, Status::Failed);
        // A stack whose traversal winds down has failed before.
        if self.tree.stack(key).summary.state != failed {
            self.tree.set_stack_state(env, key, failed, &failure.reason);
        }
        let stack = self.tree.stack(key);
        let is_rolled_back = stack.parent_resource.is_none()
            && traversal.rolls_back_on_failure(stack.is_rolled_back);
        let root = self.tree.stack(self.tree.root_key());
        let is_root_rolled_back = root
            .traversal
            .as_ref()
            .is_some_and(|traversal| traversal.rolls_back_on_failure(root.is_rolled_back));
        self.finish_deferred(env, key, is_rolled_back || is_root_rolled_back);
        if is_rolled_back {
            self.roll_back(env, key, action, traversal.adopted);
        } else {
            self.resolve_doubts(env, key);
            self.nested_traversal_ended(env, key, Err(failure));
        }
    }

    /// Begins the rollback to the recipe before the action.
    pub(crate) fn roll_back(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        from: Action,
        adopted: Option<Arc<Members>>,
    ) {
        let recipe = self.tree.stack_mut(key).previous.take().unwrap_or_else(|| {
            // The removal acts for the same user, and its events go to the same event sinks.
            let former = &self.tree.stack(key).recipe;
            let event_sinks = former.environment.event_sinks.clone();
            let environment = Environment { event_sinks, ..Environment::default() };
            Arc::new(Recipe {
                created_by: former.created_by.clone(),
                environment: Arc::new(environment),
                ..Recipe::nothing(RecipeId(env.ids.next()))
            })
        });
        // What was adopted was there before, and stays.
        let objects = if from == Action::Adopt { Objects::Keep } else { Objects::Remove };
        let spec = TraversalSpec::new(Action::Rollback, Some(recipe));
        self.begin_and_start(env, key, TraversalSpec { objects, adopted, ..spec });
    }
}
