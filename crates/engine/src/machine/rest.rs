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
        let is_around = self
            .stack(parent)
            .walk
            .as_ref()
            .is_some_and(|walk| walk.phase == Phase::Forward && walk.action != Action::Create);
        // After an interruption the operation on the holder may be over already.
        is_around
            && self
                .resource(holder)
                .op
                .as_deref()
                .is_none_or(|op| op.verb == Verb::Update && op.is_last_stage && op.stages <= 1)
    }

    pub(crate) fn rest(&mut self, key: StackKey) {
        let Some(walk) = self.walk_mut(key) else { return };
        walk.phase = Phase::Resting;
        if let Some((_, holder)) = self.stack(key).holder {
            self.is_over(holder);
        }
    }

    /// Has the nested stacks that rest clean up; whether there are any to wait for.
    pub(crate) fn clean_up_below(&mut self, env: &mut Env<'_>, key: StackKey) -> bool {
        let is_delete = self.stack(key).walk.as_ref().is_none_or(|it| it.action == Action::Delete);
        let resting = if is_delete { Vec::new() } else { self.resting_below(key) };
        if resting.is_empty() {
            return false;
        }
        if let Some(walk) = self.walk_mut(key) {
            walk.phase = Phase::Below;
            walk.left = resting.len();
            walk.waiting = 0;
            walk.is_set_up = true;
            walk.number = u64::MAX;
        }
        for child in resting {
            self.start_cleanup(env, child);
        }
        true
    }

    /// The nested stacks that rest, of resources that stay.
    fn resting_below(&self, key: StackKey) -> Vec<StackKey> {
        let blueprint = self.stack(key).blueprint.as_ref();
        let mut resting = Vec::new();
        for slot in self.stack(key).resources.values().copied() {
            let resource = self.resource(slot);
            let is_wanted = self.current(key, &resource.name) == Some(slot)
                && blueprint.is_some_and(|it| it.definition.has_resource(&resource.name));
            let Some(child) = resource.child.filter(|_| is_wanted) else { continue };
            match &self.stack(child).walk {
                Some(walk) if walk.phase == Phase::Resting => resting.push(child),
                _ => resting.extend(self.resting_below(child)),
            }
        }
        resting
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
        let Some((awaiting, path)) = self.awaiting(key) else {
            return self.resized(env, holder, result.is_ok());
        };
        if let Some(walk) = self.walk_mut(awaiting) {
            walk.left -= 1;
        }
        if let Err(mut ending) = result {
            for name in path {
                ending.failure = ending.failure.map(|failure| failure.inside(&name));
            }
            if let Some(failure) = &ending.failure {
                ending.reason = format!("Resource DELETE failed: {failure}");
            }
            self.fail_walk(env, awaiting, ending);
        }
        self.queue.push_back(super::Task::Settle(awaiting));
    }

    /// The stack that waits for those below it to clean up, and the names of the holders on the way.
    fn awaiting(&self, key: StackKey) -> Option<(StackKey, Vec<std::sync::Arc<str>>)> {
        let mut path = Vec::new();
        let mut at = key;
        while let Some((parent, holder)) = self.stack(at).holder {
            path.push(self.resource(holder).name.clone());
            if self.stack(parent).walk.as_ref().is_some_and(|walk| walk.phase == Phase::Below) {
                return Some((parent, path));
            }
            at = parent;
        }
        None
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
