//! The cleanup: each resource that the goal has no place for is removed, after those that need it.

use super::operations::OperationSpec;
use super::reached::Transition;
use super::traversal::Phase;
use super::{Machine, Timer};
use crate::ids::ResourceId;
use crate::preview::Act;
use crate::state::{Action, Status};
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_template::environment::Hook;
use kiln_template::{Edge, Graph};
use std::collections::BTreeMap;

impl Machine {
    /// Begins the cleanup of a stack.
    pub(crate) fn start_cleanup(&mut self, key: StackKey) {
        let slots = self.tree.unwanted(key);
        self.schedule_cleanup(key, slots);
    }

    /// Begins the cleanup of a nested stack whose parent's action has failed: what the template no longer has goes. What
    /// resources around the nested stack may still use stays until the next traversal: they were not all updated.
    pub(crate) fn start_cleanup_of_removed(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(deadline) = self.tree.traversal(key).map(|traversal| traversal.deadline) else {
            return self.unexpected(key, "a cleanup begins without a traversal");
        };
        // No traversal of the parent ends this one any more.
        self.timers.insert((deadline, Timer::Stack(key)));
        let mut slots = self.tree.unwanted(key);
        let is_used = self.tree.is_used_outside(key);
        slots.retain(|slot| !is_used && self.tree.is_current(*slot) && !self.tree.is_wanted(*slot));
        slots.retain(|slot| self.tree.may_clean_up(*slot));
        if is_used {
            self.reached.hit(Transition::RemovedKeptForUsers);
        }
        self.schedule_cleanup(key, slots);
        self.resolve_doubts(env, key);
    }

    fn schedule_cleanup(&mut self, key: StackKey, slots: Vec<Slot>) {
        let edges = RemovalEdges::new(&self.tree, &slots);
        let graph = edges.graph(|_| true).unwrap_or_else(|| {
            self.reached.hit(Transition::CleanupGraphCyclic);
            edges.acyclic_graph()
        });
        self.schedule_slots(key, Phase::Cleanup, slots, &graph);
    }

    /// Visits a resource that may have to be removed.
    pub(crate) fn visit_cleanup(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        slot: Option<Slot>,
        node: usize,
    ) {
        // An operation of an older traversal may have removed it meanwhile.
        let Some(slot) = slot else { return self.node_done(key, node) };
        let is_delete = self.tree.is_being_deleted(key);
        let resource = self.tree.resource(slot);
        if resource.op.is_some() {
            return self.visit_busy_cleanup(env, key, slot, node);
        }
        if !is_delete && self.tree.is_wanted(slot) {
            return match resource.child.filter(|_| self.tree.has_deferred_cleanup(slot)) {
                Some(child) => self.clean_up_nested(child, slot, node),
                None => self.node_done(key, node),
            };
        }
        if resource.copy_of.is_some() {
            return self.start_copy_removal(env, slot, node);
        }
        let state = resource.summary.state;
        let is_gone = state.is(Action::Delete, Status::Complete)
            || state.is(Action::Init, Status::Complete) && !resource.is_doubtful;
        if is_gone && resource.hook == Some(Hook::PostDelete) {
            return self.park(key, slot, node);
        }
        if is_gone {
            self.node_done(key, node);
            return self.tree.drop_resource(slot);
        }
        if is_delete && self.pauses_at_hook(env, slot, Hook::PreDelete, Action::Delete) {
            return self.park(key, slot, node);
        }
        let name = self.tree.resource(slot).summary.name.clone();
        if self.leaves_plan(env, (key, &name), Act::Delete, None) {
            return;
        }
        let (kind, action) = (OperationKind::Delete, Action::Delete);
        let start = OperationSpec { kind, action, node, target: None, requires: Vec::new() };
        self.start_operation(env, slot, start);
    }

    /// Visits a resource that may have to be removed and has an operation, which is awaited. What is done inside a nested
    /// stack that has to go is stopped.
    fn visit_busy_cleanup(&mut self, env: &mut Env<'_>, key: StackKey, slot: Slot, node: usize) {
        let Some(op) = &self.tree.resource(slot).op else { return };
        if matches!(op.kind, OperationKind::Delete | OperationKind::DeleteSnapshot) {
            return self.claim_or_park(key, slot, node);
        }
        let is_nested = op.stages().is_some();
        self.park(key, slot, node);
        if is_nested && (self.tree.is_being_deleted(key) || !self.tree.is_wanted(slot)) {
            self.reached.hit(Transition::BusyNestedStopped);
            self.stop_operation(env, slot);
        }
    }
}

impl Tree {
    /// The resources that the goal of the traversal has no place for, and those whose nested stacks have some of that
    /// kind.
    fn unwanted(&self, key: StackKey) -> Vec<Slot> {
        let is_delete = self.is_being_deleted(key);
        let is_wanted = |slot: Slot| !is_delete && self.is_wanted(slot);
        let is_to_go = |slot: &Slot| !is_wanted(*slot) || self.has_deferred_cleanup(*slot);
        self.stack(key).resources.values().copied().filter(is_to_go).collect()
    }

    /// The resources of a stack that would be removed if some are kept, each before those that it needs.
    pub(crate) fn removed(&self, key: StackKey, is_kept: impl Fn(Slot) -> bool) -> Vec<Slot> {
        let goes = |slot: &Slot| {
            let resource = self.resource(*slot);
            let state = resource.summary.state;
            let is_gone = state.is(Action::Delete, Status::Complete)
                || state.is(Action::Init, Status::Complete) && !resource.is_doubtful;
            resource.copy_of.is_none() && !is_gone && !is_kept(*slot)
        };
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().filter(goes).collect();
        let edges = RemovalEdges::new(self, &slots);
        let graph = edges.graph(|_| true).unwrap_or_else(|| edges.acyclic_graph());
        let order = graph.order().unwrap_or_default();
        order.into_iter().filter_map(|at| slots.get(at).copied()).collect()
    }

    /// Whether resources outside a nested stack depend on it, in the stack that it is nested in or further up.
    fn is_used_outside(&self, key: StackKey) -> bool {
        let Some((parent, parent_resource)) = self.stack(key).parent_resource else { return false };
        let needed = self.resource(parent_resource).id;
        let mut others = self.stack(parent).resources.values().map(|slot| self.resource(*slot));
        others.any(|other| {
            let under_way = other.op.iter().flat_map(|op| op.requires.iter());
            other.requires.iter().chain(under_way).any(|id| *id == needed)
        }) || self.is_used_outside(parent)
    }

    /// Whether the template of a resource's stack has a place for it. Copies belong to snapshots.
    pub(crate) fn is_wanted(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        if resource.copy_of.is_some() {
            return true;
        }
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        self.is_current(slot)
            && blueprint.is_some_and(|it| it.definition.has_resource(&resource.summary.name))
    }

    /// The positions of resources in a list, by their ids.
    pub(crate) fn positions(&self, slots: &[Slot]) -> BTreeMap<ResourceId, usize> {
        slots.iter().enumerate().map(|(at, slot)| (self.resource(*slot).id, at)).collect()
    }

    /// Whether the action under way on a stack deletes it.
    pub(crate) fn is_being_deleted(&self, key: StackKey) -> bool {
        self.traversal(key).is_some_and(|traversal| traversal.action == Action::Delete)
    }
}

/// What has to be removed before what, of some resources.
struct RemovalEdges {
    count: usize,
    edges: Vec<RemovalEdge>,
}

/// A resource is removed before another one.
#[derive(Clone, Copy)]
struct RemovalEdge {
    first: usize,
    then: usize,
    /// Whether it is first because it replaces the other one, and not because it needs it.
    is_replacement: bool,
}

impl RemovalEdges {
    /// A resource goes before its dependencies, and a replacement before the resource that it replaces.
    fn new(tree: &Tree, slots: &[Slot]) -> RemovalEdges {
        let positions = tree.positions(slots);
        let mut edges = Vec::new();
        for (first, slot) in slots.iter().enumerate() {
            let resource = tree.resource(*slot);
            let under_way = resource.op.iter().flat_map(|op| op.requires.iter());
            let needed = resource.requires.iter().chain(under_way).map(|id| (id, false));
            for (id, is_replacement) in needed.chain(resource.replaces.iter().map(|id| (id, true)))
            {
                if let Some(then) = positions.get(id).copied().filter(|then| *then != first) {
                    edges.push(RemovalEdge { first, then, is_replacement });
                }
            }
        }
        RemovalEdges { count: slots.len(), edges }
    }

    /// The graph of some of the edges; `None` if resources wait for each other in it.
    fn graph(&self, is_used: impl Fn(&RemovalEdge) -> bool) -> Option<Graph> {
        let mut waits: Vec<Vec<Edge>> = vec![Vec::new(); self.count];
        for edge in self.edges.iter().filter(|edge| is_used(edge)) {
            waits[edge.then].push(Edge { to: edge.first, span: None });
        }
        let mut graph = Graph::with_capacity(self.count);
        waits.iter().for_each(|edges| graph.push(edges));
        graph.order().is_ok().then_some(graph)
    }

    /// After a revival two resources may wait for each other: then dependencies count more than replacements. Should they
    /// form a cycle as well, only older resources wait for younger ones, in which there is none.
    fn acyclic_graph(&self) -> Graph {
        let by_dependencies = self.graph(|edge| !edge.is_replacement);
        let by_age = || self.graph(|edge| !edge.is_replacement && edge.then < edge.first);
        by_dependencies.or_else(by_age).unwrap_or_default()
    }
}
