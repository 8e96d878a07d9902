//! Hooks: points at which a resource waits until a user lets it go on.

use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_template::environment::Hook;

impl Tree {
    /// Marks a hook as passed, so that the same traversal does not wait there again, as after a restart.
    pub(crate) fn mark_hook_passed(&mut self, slot: Slot, hook: Hook) {
        if self.has_hook(slot, hook) && !self.resource(slot).cleared.contains(&hook) {
            self.change(slot).cleared.push(hook);
        }
    }

    /// Forgets which hooks were passed, since a traversal begins.
    pub(crate) fn reset_hooks(&mut self, key: StackKey) {
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        for slot in slots {
            if !self.resource(slot).cleared.is_empty() {
                self.change(slot).cleared.clear();
            }
        }
    }

    fn has_hook(&self, slot: Slot, hook: Hook) -> bool {
        let resource = self.resource(slot);
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        blueprint.is_some_and(|it| it.registry.hooks(&resource.name).contains(&hook))
    }

    /// Whether a resource has to wait at a hook; records an event when it gets there.
    pub(crate) fn pauses_at_hook(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        hook: Hook,
        action: Action,
    ) -> bool {
        let resource = self.resource(slot);
        if resource.hook == Some(hook) {
            return true;
        }
        if !self.has_hook(slot, hook) || resource.cleared.contains(&hook) {
            return false;
        }
        let state = resource.state;
        self.change(slot).hook = Some(hook);
        let reason = format!("{action} paused until Hook {} is cleared", hook.name());
        self.resource_event(env, slot, state, &reason);
        true
    }

    /// Leaves all hooks of a stack, since its traversal has failed or is replaced.
    pub(crate) fn abandon_hooks(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        for slot in slots {
            if self.resource(slot).hook.is_none() {
                continue;
            }
            let resource = self.change(slot);
            resource.hook = None;
            let state = resource.state;
            self.resource_event(env, slot, state, "Failure occurred while waiting.");
        }
    }

    /// Whether a resource was created or updated, and waits at the hook after that.
    pub(crate) fn is_at_post_hook(&self, slot: Slot) -> bool {
        matches!(self.resource(slot).hook, Some(Hook::PostCreate | Hook::PostUpdate))
    }

    /// Lets a resource go on from the hook that it waits at.
    pub(crate) fn clear_hook(&mut self, env: &mut Env<'_>, slot: Slot, reason: &str) {
        let resource = self.change(slot);
        let Some(hook) = resource.hook.take() else { return };
        resource.cleared.push(hook);
        let (state, key) = (resource.state, resource.stack);
        let reason = match reason {
            "" => format!("Hook {} is cleared", hook.name()),
            reason => reason.to_owned(),
        };
        self.resource_event(env, slot, state, &reason);
        let parked = self.traversal_mut(key).and_then(|traversal| traversal.parked.remove(&slot));
        if let Some(node) = parked {
            self.enqueue(key, &[node]);
        }
    }
}
