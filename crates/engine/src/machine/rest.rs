//! Nested stacks that rest: what was replaced inside them stays until those outside who used it have
//! moved on.

use super::Phase;
use super::walk::Ending;
use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::Verb;

impl Tree {
    /// Whether a nested stack that has what it should have leaves the cleanup for later. A rolling
    /// update does not: it must not need twice the room.
    pub(crate) fn cleans_up_later(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        let is_update = stack.walk.as_ref().is_some_and(|walk| walk.action == Action::Update);
        let Some((parent, holder)) = stack.holder.filter(|_| is_update) else { return false };
        // A delete of the stack around it comes to it in its turn.
        let is_around = self.stack(parent).walk.as_ref().is_some_and(|walk| match walk.action {
            Action::Delete => true,
            Action::Create => false,
            // After an interruption the walk around it may be there already, and not yet at it.
            _ => walk.phase == Phase::Forward || walk.is_yet_to_clean(holder),
        });
        // After an interruption the operation on the holder may be over already.
        is_around
            && self
                .resource(holder)
                .op
                .as_deref()
                .is_none_or(|op| op.verb == Verb::Update && op.is_last_stage && op.stages <= 1)
    }

    /// Whether a nested stack still goes on though the walk around it has ended, badly: others may not have
    /// moved on, so what was replaced inside stays until the next walk. A group that is given another size
    /// does that by itself.
    pub(crate) fn is_left_behind(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        let is_update = stack.walk.as_ref().is_some_and(|walk| walk.action == Action::Update);
        let Some((parent, holder)) = stack.holder.filter(|_| is_update) else { return false };
        let holder = self.resource(holder);
        self.stack(parent).walk.is_none() && holder.op.is_none() && holder.wanted_size.is_none()
    }

    pub(crate) fn rest(&mut self, key: StackKey) {
        let Some(walk) = self.walk_mut(key) else { return };
        walk.phase = Phase::Resting;
        if let Some((_, holder)) = self.stack(key).holder {
            self.is_over(holder);
        }
    }

    /// Whether a resource stays, and its nested stack has yet to clean up.
    pub(crate) fn cleans_up_inside(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        resource.op.is_none()
            && resource.child.is_some_and(|child| self.stack(child).walk.is_some())
    }

    /// Has the nested stack of a resource clean up; the node waits for that.
    pub(crate) fn clean_up_inside(&mut self, env: &mut Env<'_>, slot: Slot, node: usize) {
        let resource = self.resource(slot);
        let (key, Some(child)) = (resource.stack, resource.child) else { return };
        self.park(key, slot, node);
        let walk = self.stack(child).walk.as_ref();
        // One that is still on its way will not rest any more.
        if walk.is_some_and(|walk| walk.phase == Phase::Resting) {
            self.start_cleanup(env, child);
        }
    }

    /// A nested stack has come to an end without an operation on its holder: it cleaned up, or a group
    /// was given another size.
    pub(crate) fn ended_alone(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        holder: Slot,
        result: Result<(), Ending>,
    ) {
        let Some((parent, _)) = self.stack(key).holder else { return };
        let walk = self.walk_mut(parent).filter(|walk| walk.phase == Phase::Cleanup);
        let node = walk.and_then(|walk| walk.parked.remove(&holder));
        let is_resize = self.resource(holder).wanted_size.is_some();
        self.resized(env, holder, result.as_ref().err().map(|ending| &*ending.reason));
        if node.is_none() && is_resize {
            return;
        }
        self.queue.push_back(super::Task::Settle(parent));
        match result {
            Ok(()) => node.into_iter().for_each(|node| self.node_done(parent, node)),
            // A newer walk may count on a cleanup that an older one began.
            Err(ending) => {
                let name = self.resource(holder).name.clone();
                match ending.failure {
                    Some(failure) => {
                        self.node_failed(env, parent, Action::Delete, failure.inside(&name));
                    }
                    None => self.fail_walk(env, parent, ending),
                }
            }
        }
    }

    /// The cleanup for which nested stacks rest will not come: they are what they should be, and keep
    /// what they should not until the next walk.
    pub(crate) fn wake_resting(&mut self, env: &mut Env<'_>, key: StackKey) {
        let children: Vec<StackKey> = self
            .stack(key)
            .resources
            .values()
            .filter_map(|slot| self.resource(*slot).child)
            .collect();
        for child in children {
            let is_resting =
                self.stack(child).walk.as_ref().is_some_and(|walk| walk.phase == Phase::Resting);
            self.wake_resting(env, child);
            if is_resting {
                self.end_well(env, child);
                self.settle_doubts(env, child);
            }
        }
    }

    /// Stops what is under way in a stack whose holder has nothing under way.
    pub(crate) fn stop_below(&mut self, env: &mut Env<'_>, child: StackKey) {
        match &self.stack(child).walk {
            Some(walk) if walk.phase != Phase::Resting => self.cancel(env, child),
            _ => self.stop_all(env, child),
        }
    }
}
