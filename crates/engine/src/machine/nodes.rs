//! The nodes of a traversal: visiting them, and what they wait for.

use super::reached::Transition;
use super::traversal::Phase;
use super::{Machine, Task};
use crate::tree::{Env, NodeId, Operation, Origin, Slot, StackKey};

impl Machine {
    /// A node is visited. The task may have outlived the stack, the traversal and its phase.
    pub(crate) fn visit(&mut self, env: &mut Env<'_>, key: StackKey, schedule: u64, node: usize) {
        if !self.tree.has_stack(key) {
            return;
        }
        let Some(traversal) = self.traversal_mut(key) else { return };
        let Some(own) = traversal.schedule_mut().filter(|own| own.id == schedule) else { return };
        if let Err(wrong) = own.visit(node) {
            return self.unexpected(key, format!("a node is visited: {wrong}"));
        }
        match &traversal.phase {
            Phase::Forward(_) => self.visit_forward(env, key, node),
            Phase::Cleanup(it) => {
                let slot = it.slot(node);
                self.visit_cleanup(env, key, slot, node);
            }
            Phase::ForEach(it) => {
                let slot = it.slot(node);
                self.visit_for_each(env, key, slot, node);
            }
            Phase::Refresh(it) => {
                let slot = it.slot(node);
                self.visit_refresh(env, key, slot, node);
            }
            Phase::Pending | Phase::Deferred => {}
        }
        let schedule = self.traversal_mut(key).and_then(|traversal| traversal.schedule_mut());
        if schedule.is_some_and(|schedule| !schedule.has_queued()) {
            self.queue.push_back(Task::MaybeFinish(key));
        }
    }

    /// Queues nodes to be visited.
    pub(crate) fn enqueue(&mut self, key: StackKey, nodes: &[usize]) {
        let traversal = self.tree.stack_mut(key).traversal.as_deref_mut();
        let Some(schedule) = traversal.and_then(|traversal| traversal.schedule_mut()) else {
            return self.unexpected(key, "a node is queued without a schedule");
        };
        let mut wrong = None;
        for node in nodes {
            match schedule.enqueue(*node) {
                Ok(()) => self.queue.push_back(Task::Visit(key, schedule.id, *node)),
                Err(state) => wrong = Some(state),
            }
        }
        if let Some(wrong) = wrong {
            self.unexpected(key, format!("a node is queued: {wrong}"));
        }
    }

    /// A node is done: nodes of which it was the last dependency are queued.
    pub(crate) fn node_done(&mut self, key: StackKey, node: usize) {
        let Some(schedule) = self.traversal_mut(key).and_then(|it| it.schedule_mut()) else {
            return self.unexpected(key, "a node is done without a schedule");
        };
        let ready = match schedule.complete(node) {
            Ok(ready) => ready,
            Err(wrong) => return self.unexpected(key, format!("a node is done: {wrong}")),
        };
        let is_last = schedule.is_done();
        self.enqueue(key, &ready);
        if is_last {
            self.queue.push_back(Task::MaybeFinish(key));
        }
    }

    /// A node waits for an operation on a resource, for its hook, or for the cleanup of its nested stack.
    pub(crate) fn park(&mut self, key: StackKey, slot: Slot, node: usize) {
        let Some(schedule) = self.traversal_mut(key).and_then(|it| it.schedule_mut()) else {
            return self.unexpected(key, "a node waits without a schedule");
        };
        if let Some(other) = schedule.park(slot, node) {
            self.unexpected(key, format!("node {node} waits where node {other} already waits"));
        }
    }

    /// Takes the node that waits for a resource.
    pub(crate) fn unpark(&mut self, key: StackKey, slot: Slot) -> Option<usize> {
        self.traversal_mut(key)?.schedule_mut()?.unpark(slot)
    }

    /// A node meets an operation on its resource: one that this traversal began before a restart becomes the
    /// node's own, any other is awaited.
    pub(crate) fn claim_or_park(&mut self, key: StackKey, slot: Slot, node: usize) {
        let origin = self.tree.origin(key, node);
        match &mut self.tree.resource_mut(slot).op {
            Some(op) if op.origin == Origin::Interrupted => {
                self.reached.hit(Transition::OperationClaimed);
                op.origin = origin;
            }
            _ => {
                self.reached.hit(Transition::NodeParked);
                self.park(key, slot, node);
            }
        }
    }

    /// The operation on a resource is over: the node that waited for it is visited, or else its own node is done.
    pub(crate) fn release_waiters(
        &mut self,
        key: StackKey,
        slot: Slot,
        op: &Operation,
        is_done: bool,
    ) {
        self.queue.push_back(Task::MaybeFinish(key));
        if let Some(node) = self.unpark(key, slot) {
            return self.enqueue(key, &[node]);
        }
        if let Some(node) = self.tree.own_node(key, op).filter(|_| is_done) {
            self.node_done(key, node);
        }
    }
}

impl crate::tree::Tree {
    /// The origin of an operation that a node of the phase under way begins.
    pub(crate) fn origin(&self, key: StackKey, node: usize) -> Origin {
        match self.traversal(key).and_then(|traversal| traversal.schedule_id()) {
            Some(schedule) => Origin::Node(NodeId { schedule, node }),
            None => Origin::Detached,
        }
    }

    /// The node that an operation belongs to, if it is one of the phase under way.
    pub(crate) fn own_node(&self, key: StackKey, op: &Operation) -> Option<usize> {
        op.node_in(self.traversal(key)?.schedule_id()?)
    }
}
