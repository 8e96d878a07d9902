//! Giving up: everything that is under way in a tree fails at once, without a call. An operator asks for that if no engine can
//! go on with the tree.

use super::Machine;
use crate::state::{State, Status};
use crate::tree::{Env, Slot, StackKey, Work};
use kiln_resources::behaviour::OperationKind;

impl Machine {
    /// Fails all actions and operations of the tree, for this reason. Calls whose replies are not known leave doubts, which the
    /// next action resolves. Returns how many resources had an operation.
    pub(crate) fn give_up(&mut self, env: &mut Env<'_>, reason: &str) -> usize {
        let slots: Vec<Slot> = self.tree.ops.values().copied().collect();
        for slot in &slots {
            self.give_up_operation(env, *slot, reason);
        }
        let keys = (0..self.tree.stacks.len() as u32).map(StackKey);
        let keys: Vec<StackKey> = keys.filter(|key| self.tree.has_stack(*key)).collect();
        for key in keys {
            let Some(traversal) = self.take_traversal(key) else { continue };
            self.finish_snapshot(key, traversal.snapshot, Err(reason));
            let failed = State::new(traversal.action, Status::Failed);
            self.tree.set_stack_state(env, key, failed, reason);
        }
        slots.len()
    }

    fn give_up_operation(&mut self, env: &mut Env<'_>, slot: Slot, reason: &str) {
        let Some(op) = self.take_operation(slot) else { return };
        if let Work::Resize(resizing) = &op.work {
            return self.end_resize(env, slot, resizing, Some(reason));
        }
        match op.kind {
            OperationKind::Refresh
            | OperationKind::Observe
            | OperationKind::Cancel
            | OperationKind::ResolveDoubt => {}
            OperationKind::DeleteSnapshot => self.copy_not_removed(env, slot, &op, reason),
            OperationKind::Create
            | OperationKind::Update
            | OperationKind::Delete
            | OperationKind::Check
            | OperationKind::Suspend
            | OperationKind::Resume
            | OperationKind::Snapshot => self.mark_failed(env, slot, &op, reason),
        }
    }
}
