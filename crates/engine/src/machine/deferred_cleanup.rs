//! Nested stacks that defer their cleanup: resources that were replaced in them stay until the resources of the
//! parent that used them were updated.

use super::reached::Transition;
use super::traversal::{Phase, StackFailure, Traversal};
use super::{Machine, Task};
use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree, Work};
use kiln_resources::behaviour::OperationKind;

impl Machine {
    /// A nested stack is through with its forward phase, and waits for the cleanup of its parent.
    pub(crate) fn defer_cleanup(&mut self, key: StackKey) {
        let Some(traversal) = self.traversal_mut(key) else {
            return self.unexpected(key, "a cleanup is deferred without a traversal");
        };
        traversal.phase = Phase::Deferred;
        self.reached.hit(Transition::CleanupDeferred);
        if let Some((_, parent_resource)) = self.tree.stack(key).parent_resource {
            // After a restart the operation may be over already.
            self.finish_immediately(parent_resource);
        }
    }

    /// Has the nested stack of a resource clean up; the node waits for that.
    pub(crate) fn clean_up_nested(&mut self, child: StackKey, slot: Slot, node: usize) {
        self.park(self.tree.resource(slot).stack, slot, node);
        // A nested stack that is still in its forward phase goes on to its cleanup by itself.
        if self.tree.traversal(child).is_some_and(Traversal::is_deferred) {
            self.reached.hit(Transition::DeferredCleanupStarted);
            self.start_cleanup(child);
        }
    }

    /// A nested stack has cleaned up after the operation on its parent resource was over.
    pub(crate) fn deferred_cleanup_ended(
        &mut self,
        env: &mut Env<'_>,
        (parent, parent_resource): (StackKey, Slot),
        result: Result<(), StackFailure>,
    ) {
        let is_cleanup =
            matches!(self.tree.traversal(parent), Some(Traversal { phase: Phase::Cleanup(_), .. }));
        let node = if is_cleanup { self.unpark(parent, parent_resource) } else { None };
        self.queue.push_back(Task::MaybeFinish(parent));
        match result {
            Ok(()) => node.into_iter().for_each(|node| self.node_done(parent, node)),
            // A newer traversal may count on a cleanup that an older one began.
            Err(ending) => {
                let name = self.tree.resource(parent_resource).summary.name.clone();
                match ending.failure {
                    Some(failure) => {
                        self.node_failed(env, parent, Action::Delete, failure.inside(&name));
                    }
                    None => self.fail_traversal(env, parent, ending),
                }
            }
        }
    }

    /// The parent's cleanup will not come, since its traversal has failed: nested stacks that wait for it keep what was
    /// replaced in them until the next traversal. What their templates no longer have goes, unless a rollback is about to
    /// need it.
    pub(crate) fn finish_deferred(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        is_rolled_back: bool,
    ) {
        for child in self.tree.children(key) {
            let is_deferred = self.tree.traversal(child).is_some_and(Traversal::is_deferred);
            self.finish_deferred(env, child, is_rolled_back);
            if is_deferred && is_rolled_back {
                self.reached.hit(Transition::DeferredCleanupDropped);
                self.complete_traversal(env, child);
            } else if is_deferred {
                self.reached.hit(Transition::DeferredCleanupOfRemoved);
                self.start_cleanup_of_removed(env, child);
            }
        }
    }

    /// Stops all operations in a nested stack whose parent resource has no operation.
    pub(crate) fn stop_nested(&mut self, env: &mut Env<'_>, child: StackKey) {
        match self.tree.traversal(child) {
            Some(traversal) if !traversal.is_deferred() => self.cancel_traversal(env, child),
            _ => self.stop_all(env, child),
        }
    }
}

impl Tree {
    /// Whether a nested stack that is through with its forward phase defers the cleanup. A rolling update
    /// does not: it must not need twice the quota. Nor does a resize, which no action of the parent began.
    pub(crate) fn defers_cleanup(&self, key: StackKey) -> bool {
        let Some((parent, parent_resource)) = self.parent_of_update(key) else { return false };
        // A delete of the parent comes to the nested stack in its turn.
        let is_around = self.traversal(parent).is_some_and(|traversal| match traversal.action {
            Action::Delete => true,
            Action::Create => false,
            // After a restart the parent's traversal may be in its cleanup already, and not yet here.
            _ => traversal.is_forward() || traversal.will_clean_up(parent_resource),
        });
        // After a restart the operation on the parent resource may be over already.
        let op = self.resource(parent_resource).op.as_deref();
        is_around
            && op.is_none_or(|op| match &op.work {
                Work::Nested(stages) => {
                    op.kind == OperationKind::Update && stages.is_last && stages.count <= 1
                }
                Work::Handler(_) | Work::Resize(_) => false,
            })
    }

    /// Whether a nested stack goes on although its parent's traversal has failed: resources of the parent may
    /// still use what was replaced in it, so that stays until the next traversal. A group that is resized has
    /// no traversal of its parent, and cleans up by itself.
    pub(crate) fn has_outlived_parent_traversal(&self, key: StackKey) -> bool {
        self.parent_of_update(key).is_some_and(|(parent, parent_resource)| {
            self.traversal(parent).is_none() && self.resource(parent_resource).op.is_none()
        })
    }

    /// The stack and the resource that a stack is nested in, if it is being updated.
    fn parent_of_update(&self, key: StackKey) -> Option<(StackKey, Slot)> {
        let is_update = self.traversal(key)?.action == Action::Update;
        self.stack(key).parent_resource.filter(|_| is_update)
    }

    /// The stacks that are nested in the resources of a stack.
    pub(crate) fn children(&self, key: StackKey) -> Vec<StackKey> {
        let resources = self.stack(key).resources.values();
        resources.filter_map(|slot| self.resource(*slot).child).collect()
    }

    /// Whether a resource stays, and its nested stack has yet to clean up.
    pub(crate) fn has_deferred_cleanup(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        resource.op.is_none() && resource.child.is_some_and(|child| self.traversal(child).is_some())
    }
}
