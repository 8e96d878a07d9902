//! Nested stacks that defer their cleanup: resources that were replaced in them stay until the resources of the
//! parent that used them were updated.

use super::Phase;
use super::traversal::StackFailure;
use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;

impl Tree {
    /// Whether a nested stack that is through with its forward phase defers the cleanup. A rolling update
    /// does not: it must not need twice the quota.
    pub(crate) fn defers_cleanup(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        let is_update =
            stack.traversal.as_ref().is_some_and(|traversal| traversal.action == Action::Update);
        let Some((parent, parent_resource)) = stack.parent_resource.filter(|_| is_update) else {
            return false;
        };
        // A delete of the parent comes to the nested stack in its turn.
        let is_around =
            self.stack(parent).traversal.as_ref().is_some_and(|traversal| match traversal.action {
                Action::Delete => true,
                Action::Create => false,
                // After a restart the parent's traversal may be in its cleanup already, and not yet here.
                _ => traversal.phase == Phase::Forward || traversal.will_clean_up(parent_resource),
            });
        // After a restart the operation on the parent resource may be over already.
        is_around
            && self.resource(parent_resource).op.as_deref().is_none_or(|op| {
                op.kind == OperationKind::Update && op.is_last_stage && op.stages <= 1
            })
    }

    /// Whether a nested stack goes on although its parent's traversal has failed: resources of the parent may
    /// still use what was replaced in it, so that stays until the next traversal. A group that is resized has
    /// no traversal of its parent, and cleans up by itself.
    pub(crate) fn has_outlived_parent_traversal(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        let is_update =
            stack.traversal.as_ref().is_some_and(|traversal| traversal.action == Action::Update);
        let Some((parent, parent_resource)) = stack.parent_resource.filter(|_| is_update) else {
            return false;
        };
        let parent_resource = self.resource(parent_resource);
        self.stack(parent).traversal.is_none()
            && parent_resource.op.is_none()
            && parent_resource.wanted_size.is_none()
    }

    pub(crate) fn defer_cleanup(&mut self, key: StackKey) {
        let Some(traversal) = self.traversal_mut(key) else { return };
        traversal.phase = Phase::Deferred;
        if let Some((_, parent_resource)) = self.stack(key).parent_resource {
            self.finish_immediately(parent_resource);
        }
    }

    /// Whether a resource stays, and its nested stack has yet to clean up.
    pub(crate) fn has_deferred_cleanup(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        resource.op.is_none()
            && resource.child.is_some_and(|child| self.stack(child).traversal.is_some())
    }

    /// Has the nested stack of a resource clean up; the node waits for that.
    pub(crate) fn clean_up_nested(&mut self, env: &mut Env<'_>, slot: Slot, node: usize) {
        let resource = self.resource(slot);
        let (key, Some(child)) = (resource.stack, resource.child) else { return };
        self.park(key, slot, node);
        let traversal = self.stack(child).traversal.as_ref();
        // A nested stack that is still in its forward phase goes on to its cleanup by itself.
        if traversal.is_some_and(|traversal| traversal.phase == Phase::Deferred) {
            self.start_cleanup(env, child);
        }
    }

    /// The traversal of a nested stack has ended without an operation on its parent resource: a deferred
    /// cleanup, or a group that was resized.
    pub(crate) fn nested_ended_without_operation(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        parent_resource: Slot,
        result: Result<(), StackFailure>,
    ) {
        let Some((parent, _)) = self.stack(key).parent_resource else { return };
        let traversal =
            self.traversal_mut(parent).filter(|traversal| traversal.phase == Phase::Cleanup);
        let node = traversal.and_then(|traversal| traversal.parked.remove(&parent_resource));
        let is_resize = self.resource(parent_resource).wanted_size.is_some();
        self.finish_resize(
            env,
            parent_resource,
            result.as_ref().err().map(|ending| &*ending.reason),
        );
        if node.is_none() && is_resize {
            return;
        }
        self.queue.push_back(super::Task::MaybeFinish(parent));
        match result {
            Ok(()) => node.into_iter().for_each(|node| self.node_done(parent, node)),
            // A newer traversal may count on a cleanup that an older one began.
            Err(ending) => {
                let name = self.resource(parent_resource).name.clone();
                match ending.failure {
                    Some(failure) => {
                        self.node_failed(env, parent, Action::Delete, failure.inside(&name));
                    }
                    None => self.fail_traversal(env, parent, ending),
                }
            }
        }
    }

    /// The parent's cleanup will not come, since its traversal has failed: nested stacks that wait for it are
    /// complete, and keep what was replaced in them until the next traversal.
    pub(crate) fn finish_deferred(&mut self, env: &mut Env<'_>, key: StackKey) {
        let children: Vec<StackKey> = self
            .stack(key)
            .resources
            .values()
            .filter_map(|slot| self.resource(*slot).child)
            .collect();
        for child in children {
            let is_resting = self
                .stack(child)
                .traversal
                .as_ref()
                .is_some_and(|traversal| traversal.phase == Phase::Deferred);
            self.finish_deferred(env, child);
            if is_resting {
                self.complete_traversal(env, child);
                self.resolve_doubts(env, child);
            }
        }
    }

    /// Stops all operations in a nested stack whose parent resource has no operation.
    pub(crate) fn stop_nested(&mut self, env: &mut Env<'_>, child: StackKey) {
        match &self.stack(child).traversal {
            Some(traversal) if traversal.phase != Phase::Deferred => {
                self.cancel_traversal(env, child)
            }
            _ => self.stop_all(env, child),
        }
    }
}
