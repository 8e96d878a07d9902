//! Hooks: places where a resource waits until somebody says that it may go on.

use crate::state::Action;
use crate::tree::{Env, Slot, Tree};
use kiln_template::environment::Hook;

impl Tree {
    /// Whether a resource has to wait at a hook; tells so when it gets there.
    pub(crate) fn waits_at(
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
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        let is_set = blueprint.is_some_and(|it| it.registry.hooks(&resource.name).contains(&hook));
        if !is_set || resource.cleared.contains(&hook) {
            return false;
        }
        let state = resource.state;
        self.change(slot).hook = Some(hook);
        let reason = format!("{action} paused until Hook {} is cleared", hook.name());
        self.resource_event(env, slot, state, &reason);
        true
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
        let parked = self.walk_mut(key).and_then(|walk| walk.parked.remove(&slot));
        if let Some(node) = parked {
            self.look_at(key, &[node]);
        }
    }
}
