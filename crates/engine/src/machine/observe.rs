//! Reading objects, to compare them with their definitions before an update or in a check.

use super::Machine;
use super::reached::Transition;
use crate::drift::Observed;
use crate::tree::{Env, Slot};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::OpError;

impl Machine {
    /// Reads the object of a resource; its node is visited again when that is done.
    pub(crate) fn observe(&mut self, env: &mut Env<'_>, slot: Slot, node: usize) {
        self.reached.hit(Transition::ObjectObserved);
        let resource = self.tree.resource(slot);
        let (action, origin) =
            (resource.summary.state.action, self.tree.origin(resource.stack, node));
        self.put_operation(slot, origin, OperationKind::Observe, action);
        self.dispatch(env, slot);
    }

    /// The object of a resource was read.
    pub(crate) fn object_observed(&mut self, slot: Slot, result: &Result<(), OpError>) {
        let Some(op) = self.take_operation(slot) else { return };
        let (key, id) = (self.tree.resource(slot).stack, self.tree.resource(slot).id);
        let converges = self.tree.converges(key);
        let reported = self.tree.observed.remove(&id).unwrap_or_default();
        let mut found = Observed::of_end(reported, result);
        if !converges {
            found.limit_to(self.tree.resource(slot).half_done.as_ref());
        }
        self.tree.observed.insert(id, found);
        let own_node = self.tree.own_node(key, &op);
        self.release_waiters(key, slot, &op, false);
        if let Some(node) = own_node {
            self.enqueue(key, &[node]);
        }
    }

    /// The reason that a check gives to a resource whose object is healthy and has drifted.
    pub(crate) fn drift_reason(&mut self, slot: Slot) -> Option<String> {
        let drifted = self.tree.take_drifted(slot);
        if self.tree.is_external(slot) {
            // An external object is its owner's affair.
            return None;
        }
        let names: Vec<&str> = drifted.keys().map(|name| &**name).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Changed behind the stack's back: {}. Next: update the stack with converge to fix it.",
                names.join(", ")
            )
        })
    }
}
