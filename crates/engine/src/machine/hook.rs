//! Hooks: points at which a resource waits until a user lets it go on.

use super::Machine;
use super::reached::Transition;
use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_template::environment::Hook;

impl Machine {
    /// Marks a hook as passed, so that the same traversal does not wait there again, as after a restart.
    pub(crate) fn mark_hook_passed(&mut self, slot: Slot, hook: Hook) {
        if self.tree.has_hook(slot, hook) && !self.tree.resource(slot).cleared.contains(&hook) {
            self.tree.change(slot).cleared.push(hook);
        }
    }

    /// Forgets which hooks were passed, since a traversal begins.
    pub(crate) fn reset_hooks(&mut self, key: StackKey) {
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        for slot in slots {
            if !self.tree.resource(slot).cleared.is_empty() {
                self.tree.change(slot).cleared.clear();
            }
        }
    }

    /// Whether a resource has to wait at a hook; records an event when it gets there.
    pub(crate) fn pauses_at_hook(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        hook: Hook,
        action: Action,
    ) -> bool {
        let resource = self.tree.resource(slot);
        if resource.hook == Some(hook) {
            return true;
        }
        if !self.tree.has_hook(slot, hook) || resource.cleared.contains(&hook) {
            return false;
        }
        let state = resource.summary.state;
        self.reached.hit(Transition::HookReached);
        self.tree.change(slot).hook = Some(hook);
        let reason = format!("{action} paused until Hook {} is cleared", hook.name());
        self.tree.resource_event(env, slot, state, &reason);
        true
    }

    /// Leaves all hooks of a stack, since its traversal has failed or is replaced.
    pub(crate) fn abandon_hooks(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        for slot in slots {
            if self.tree.resource(slot).hook.is_none() {
                continue;
            }
            self.reached.hit(Transition::HooksAbandoned);
            let resource = self.tree.change(slot);
            resource.hook = None;
            let state = resource.summary.state;
            self.tree.resource_event(env, slot, state, "Failure occurred while waiting.");
        }
    }

    /// Lets a resource go on from the hook that it waits at.
    pub(crate) fn clear_hook(&mut self, env: &mut Env<'_>, slot: Slot, reason: &str) {
        let resource = self.tree.change(slot);
        let Some(hook) = resource.hook.take() else {
            let key = resource.stack;
            return self.unexpected(key, "a hook that nothing waits at is cleared");
        };
        self.reached.hit(Transition::HookCleared);
        resource.cleared.push(hook);
        let (state, key) = (resource.summary.state, resource.stack);
        let reason = match reason {
            "" => format!("Hook {} is cleared", hook.name()),
            reason => reason.to_owned(),
        };
        self.tree.resource_event(env, slot, state, &reason);
        if let Some(node) = self.unpark(key, slot) {
            self.enqueue(key, &[node]);
        }
    }
}

impl Tree {
    /// Whether the environment sets a hook for a resource.
    pub(crate) fn has_hook(&self, slot: Slot, hook: Hook) -> bool {
        let resource = self.resource(slot);
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        blueprint.is_some_and(|it| it.registry.hooks(&resource.summary.name).contains(&hook))
    }

    /// Whether a resource was created or updated, and waits at the hook after that.
    pub(crate) fn is_at_post_hook(&self, slot: Slot) -> bool {
        matches!(self.resource(slot).hook, Some(Hook::PostCreate | Hook::PostUpdate))
    }
}
