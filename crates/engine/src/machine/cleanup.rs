//! The cleanup: each resource that the goal has no place for is removed, after those that need it.

use super::Phase;
use super::operations::OperationSpec;
use crate::state::{Action, Status};
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_template::environment::Hook;
use kiln_template::graph::{Edge, Graph};
use std::collections::BTreeMap;

impl Tree {
    pub(crate) fn start_cleanup(&mut self, _: &mut Env<'_>, key: StackKey) {
        let slots = self.unwanted(key);
        let graph = self.graph_of_removal(&slots);
        let nodes = vec![true; slots.len()];
        if let Some(traversal) = self.traversal_mut(key) {
            traversal.phase = Phase::Cleanup;
            traversal.slots = slots.into_iter().map(Some).collect();
        }
        self.schedule_graph(key, &graph, &nodes);
    }

    /// The resources that the goal of the traversal has no place for, and those whose nested stacks have
    /// some of that resource_type.
    fn unwanted(&self, key: StackKey) -> Vec<Slot> {
        let stack = self.stack(key);
        let is_delete =
            stack.traversal.as_ref().is_some_and(|traversal| traversal.action == Action::Delete);
        let is_wanted = |slot: Slot| !is_delete && self.is_wanted(slot);
        let is_to_go = |slot: &Slot| !is_wanted(*slot) || self.has_deferred_cleanup(*slot);
        stack.resources.values().copied().filter(is_to_go).collect()
    }

    /// Whether the template of a resource's stack has a place for it. Copies belong to snapshots.
    pub(crate) fn is_wanted(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        if resource.copy_of.is_some() {
            return true;
        }
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        self.current(resource.stack, &resource.name) == Some(slot)
            && blueprint.is_some_and(|it| it.definition.has_resource(&resource.name))
    }

    /// The order of removal: a resource goes before its dependencies, and a replacement before the resource
    /// that it replaces.
    fn graph_of_removal(&self, slots: &[Slot]) -> Graph {
        let places: BTreeMap<_, _> =
            slots.iter().enumerate().map(|(at, slot)| (self.resource(*slot).id, at)).collect();
        let mut users: Vec<Vec<Edge>> = vec![Vec::new(); slots.len()];
        for (at, slot) in slots.iter().enumerate() {
            let resource = self.resource(*slot);
            let under_way = resource.op.iter().flat_map(|op| op.requires.iter());
            let needed = resource.requires.iter().chain(under_way);
            for id in needed.chain(&resource.replaces) {
                if let Some(needed) = places.get(id).filter(|needed| **needed != at) {
                    users[*needed].push(Edge { to: at, span: None });
                }
            }
        }
        let mut graph = Graph::with_capacity(slots.len());
        users.iter().for_each(|edges| graph.push(edges));
        // After a revival two resources may wait for each other: then the younger one goes first.
        match graph.order() {
            Ok(_) => graph,
            Err(_) => self.graph_without_replacements(slots, &places),
        }
    }

    fn graph_without_replacements(
        &self,
        slots: &[Slot],
        places: &BTreeMap<crate::ids::ResourceId, usize>,
    ) -> Graph {
        let mut users: Vec<Vec<Edge>> = vec![Vec::new(); slots.len()];
        for (at, slot) in slots.iter().enumerate() {
            let resource = self.resource(*slot);
            for id in &resource.requires {
                // Only older resources wait for younger ones: such a graph has no cycle.
                if let Some(needed) = places.get(id).filter(|needed| **needed < at) {
                    users[*needed].push(Edge { to: at, span: None });
                }
            }
        }
        let mut graph = Graph::with_capacity(slots.len());
        users.iter().for_each(|edges| graph.push(edges));
        graph
    }

    pub(crate) fn visit_cleanup(&mut self, env: &mut Env<'_>, key: StackKey, node: usize) {
        let Some(traversal) = &self.stack(key).traversal else { return };
        let action = traversal.action;
        let Some(slot) = traversal.slots[node] else { return self.node_done(key, node) };
        let resource = self.resource(slot);
        if let Some(op) = &resource.op {
            return match op.kind {
                OperationKind::Delete | OperationKind::DeleteSnapshot => {
                    self.claim_or_park(key, slot, node)
                }
                _ => self.park(key, slot, node),
            };
        }
        if action != Action::Delete && self.is_wanted(slot) {
            return match self.has_deferred_cleanup(slot) {
                true => self.clean_up_nested(env, slot, node),
                false => self.node_done(key, node),
            };
        }
        if resource.copy_of.is_some() {
            return self.start_copy_removal(env, slot, node);
        }
        let state = resource.state;
        let is_gone = state.is(Action::Delete, Status::Complete)
            || state.is(Action::Init, Status::Complete) && !resource.is_doubtful;
        if is_gone && resource.hook == Some(Hook::PostDelete) {
            return self.park(key, slot, node);
        }
        if is_gone {
            self.node_done(key, node);
            return self.drop_resource(slot);
        }
        if action == Action::Delete
            && self.pauses_at_hook(env, slot, Hook::PreDelete, Action::Delete)
        {
            return self.park(key, slot, node);
        }
        let (kind, action) = (OperationKind::Delete, Action::Delete);
        let start = OperationSpec { kind, action, node, target: None, requires: Vec::new() };
        self.start_operation(env, slot, start);
    }
}
