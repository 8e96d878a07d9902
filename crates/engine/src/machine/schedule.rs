//! The schedule of a phase: which nodes can be visited, which wait, and which are done.
//!
//! A node is visited once all nodes that it depends on are done. Then it is done at once, or it waits: for an operation
//! of its own, or parked with a resource that another operation or a hook keeps busy. No other way leads out of
//! *visited*, which [`super::invariants`] checks after every step.

use crate::tree::Slot;
use kiln_template::{Dependents, Graph};
use std::collections::BTreeMap;
use std::fmt;

/// The order in which the nodes of a phase are visited, and how far that is.
pub(crate) struct Schedule {
    /// Tells it from every other schedule of the tree.
    pub(crate) id: u64,
    nodes: Vec<NodeState>,
    users: Dependents,
    /// How many nodes are in the queue of the machine.
    queued: usize,
    /// How many nodes are not done.
    remaining: usize,
    /// Nodes that wait for an operation on a resource, for a hook, or for the cleanup of a nested stack.
    parked: BTreeMap<Slot, usize>,
}

/// How far a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeState {
    /// So many of its dependencies are not done.
    Blocked(u32),
    /// It is in the queue of the machine.
    Queued,
    /// It was visited, and waits.
    Visited,
    /// It is done, or a condition has disabled it.
    Done,
}

/// A step of a node that its state does not allow.
#[derive(Debug)]
pub(crate) struct WrongState {
    node: usize,
    state: Option<NodeState>,
}

impl fmt::Display for WrongState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state {
            Some(state) => write!(f, "node {} is {state:?}", self.node),
            None => write!(f, "there is no node {}", self.node),
        }
    }
}

impl Schedule {
    /// The schedule of a graph, of which only some nodes are wanted; and the nodes that can be visited first.
    pub(crate) fn new(id: u64, graph: &Graph, wanted: &[bool]) -> (Schedule, Vec<usize>) {
        let state = |at: usize| match wanted[at] {
            true => NodeState::Blocked(graph.dependencies(at).len() as u32),
            false => NodeState::Done,
        };
        let nodes: Vec<NodeState> = (0..graph.len()).map(state).collect();
        let is_ready = |at: &usize| nodes[*at] == NodeState::Blocked(0);
        let ready = (0..graph.len()).filter(is_ready).collect();
        let remaining = nodes.iter().filter(|state| **state != NodeState::Done).count();
        let users = graph.dependents();
        (Schedule { id, nodes, users, queued: 0, remaining, parked: BTreeMap::new() }, ready)
    }

    /// Whether all nodes are done.
    pub(crate) fn is_done(&self) -> bool {
        self.remaining == 0
    }

    /// Whether nodes are in the queue of the machine.
    pub(crate) fn has_queued(&self) -> bool {
        self.queued > 0
    }

    /// Whether a node still waits for its dependencies.
    pub(crate) fn is_blocked(&self, node: usize) -> bool {
        matches!(self.nodes.get(node), Some(NodeState::Blocked(1..)))
    }

    /// A node is put into the queue: its dependencies are done, or what it was parked for is over.
    pub(crate) fn enqueue(&mut self, node: usize) -> Result<(), WrongState> {
        match self.nodes.get_mut(node) {
            Some(state @ (NodeState::Blocked(0) | NodeState::Visited)) => {
                *state = NodeState::Queued;
                self.queued += 1;
                Ok(())
            }
            state => Err(WrongState { node, state: state.copied() }),
        }
    }

    /// A node is visited.
    pub(crate) fn visit(&mut self, node: usize) -> Result<(), WrongState> {
        match self.nodes.get_mut(node) {
            Some(state @ NodeState::Queued) => {
                *state = NodeState::Visited;
                self.queued -= 1;
                Ok(())
            }
            state => Err(WrongState { node, state: state.copied() }),
        }
    }

    /// A node is done; returns the nodes of which it was the last dependency.
    pub(crate) fn complete(&mut self, node: usize) -> Result<Vec<usize>, WrongState> {
        match self.nodes.get_mut(node) {
            Some(state @ NodeState::Visited) => *state = NodeState::Done,
            state => return Err(WrongState { node, state: state.copied() }),
        }
        self.remaining -= 1;
        let mut ready = Vec::new();
        for user in self.users.get(node) {
            if let NodeState::Blocked(unmet) = &mut self.nodes[*user] {
                *unmet = unmet.saturating_sub(1);
                if *unmet == 0 {
                    ready.push(*user);
                }
            }
        }
        Ok(ready)
    }

    /// A node is done, and all that depend on it count as done without being visited.
    pub(crate) fn skip(&mut self, node: usize) {
        let mut skipped = vec![node];
        while let Some(node) = skipped.pop() {
            if self.nodes[node] != NodeState::Done {
                self.nodes[node] = NodeState::Done;
                self.remaining -= 1;
                skipped.extend(self.users.get(node));
            }
        }
    }

    /// A node waits for what keeps a resource busy; returns the node that waited for it before.
    pub(crate) fn park(&mut self, slot: Slot, node: usize) -> Option<usize> {
        self.parked.insert(slot, node).filter(|other| *other != node)
    }

    /// Takes the node that waits for a resource.
    pub(crate) fn unpark(&mut self, slot: Slot) -> Option<usize> {
        self.parked.remove(&slot)
    }

    /// The resources that nodes wait for, with the nodes.
    pub(crate) fn parked(&self) -> impl Iterator<Item = (Slot, usize)> + '_ {
        self.parked.iter().map(|(slot, node)| (*slot, *node))
    }

    /// How far the nodes are.
    pub(crate) fn nodes(&self) -> &[NodeState] {
        &self.nodes
    }

    /// What does not add up.
    pub(crate) fn check(&self, found: &mut Vec<String>) {
        let count =
            |wanted: fn(&NodeState) -> bool| self.nodes.iter().filter(|it| wanted(it)).count();
        let remaining = count(|state| *state != NodeState::Done);
        if remaining != self.remaining {
            found.push(format!(
                "{remaining} nodes are not done, and {} were counted",
                self.remaining
            ));
        }
        let queued = count(|state| *state == NodeState::Queued);
        if queued != self.queued {
            found.push(format!("{queued} nodes are queued, and {} were counted", self.queued));
        }
        for node in self.parked.values() {
            if self.nodes.get(*node) != Some(&NodeState::Visited) {
                found.push(format!("node {node} is parked and {:?}", self.nodes.get(*node)));
            }
        }
    }
}

/// A schedule whose nodes are resources that exist, in place of positions in a template.
pub(crate) struct SlotSchedule {
    pub(crate) schedule: Schedule,
    /// The resources of the nodes; `None` once one is gone.
    slots: Vec<Option<Slot>>,
}

impl SlotSchedule {
    pub(crate) fn new(schedule: Schedule, slots: Vec<Slot>) -> SlotSchedule {
        SlotSchedule { schedule, slots: slots.into_iter().map(Some).collect() }
    }

    /// The resource of a node, unless it is gone.
    pub(crate) fn slot(&self, node: usize) -> Option<Slot> {
        self.slots.get(node).copied().flatten()
    }

    /// The node of a resource.
    pub(crate) fn node_of(&self, slot: Slot) -> Option<usize> {
        self.slots.iter().position(|it| *it == Some(slot))
    }

    /// A resource is gone.
    pub(crate) fn forget(&mut self, slot: Slot) {
        self.slots.iter_mut().filter(|it| **it == Some(slot)).for_each(|it| *it = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_template::Edge;

    /// A graph by the dependencies of its nodes.
    fn schedule(nodes: &[&[usize]]) -> (Schedule, Vec<usize>) {
        let mut graph = Graph::with_capacity(nodes.len());
        for needs in nodes {
            let edges: Vec<Edge> = needs.iter().map(|to| Edge { to: *to, span: None }).collect();
            graph.push(&edges);
        }
        Schedule::new(1, &graph, &vec![true; nodes.len()])
    }

    fn visit(schedule: &mut Schedule, node: usize) {
        schedule.enqueue(node).unwrap();
        schedule.visit(node).unwrap();
    }

    #[test]
    fn a_node_is_ready_once_all_its_dependencies_are_done() {
        let (mut schedule, ready) = schedule(&[&[], &[], &[0, 1]]);
        assert_eq!(ready, [0, 1]);
        visit(&mut schedule, 0);
        assert!(schedule.complete(0).unwrap().is_empty());
        visit(&mut schedule, 1);
        assert_eq!(schedule.complete(1).unwrap(), [2]);
        assert!(!schedule.is_done());
    }

    #[test]
    fn a_node_is_done_once() {
        let (mut schedule, _) = schedule(&[&[], &[0]]);
        assert!(schedule.complete(0).is_err(), "it was not visited");
        visit(&mut schedule, 0);
        schedule.complete(0).unwrap();
        assert!(schedule.complete(0).is_err());
        assert!(schedule.enqueue(0).is_err());
    }

    #[test]
    fn what_two_skipped_nodes_have_in_common_is_skipped_once() {
        let (mut schedule, _) = schedule(&[&[], &[], &[0, 1], &[]]);
        schedule.skip(0);
        schedule.skip(1);
        assert!(!schedule.is_done());
        visit(&mut schedule, 3);
        schedule.complete(3).unwrap();
        assert!(schedule.is_done());
        let mut found = Vec::new();
        schedule.check(&mut found);
        assert!(found.is_empty(), "{found:?}");
    }
}
