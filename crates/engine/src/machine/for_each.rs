//! The same operation on every resource of a stack: suspend, resume, check, snapshot.

use super::Phase;
use super::operations::OperationSpec;
use crate::state::{Action, State, Status};
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_template::graph::{Edge, Graph};
use std::collections::BTreeMap;

impl Tree {
    pub(crate) fn start_for_each(&mut self, _: &mut Env<'_>, key: StackKey) {
        let stack = self.stack(key);
        let is_backwards =
            stack.traversal.as_ref().is_some_and(|traversal| traversal.action == Action::Suspend);
        let slots: Vec<Slot> = stack
            .resources
            .values()
            .copied()
            .filter(|slot| self.current(key, &self.resource(*slot).name) == Some(*slot))
            .collect();
        let places: BTreeMap<_, _> =
            slots.iter().enumerate().map(|(at, slot)| (self.resource(*slot).id, at)).collect();
        let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); slots.len()];
        for (at, slot) in slots.iter().enumerate() {
            let needed = self.resource(*slot).requires.iter().filter_map(|id| places.get(id));
            for needed in needed {
                let (from, to) = if is_backwards { (*needed, at) } else { (at, *needed) };
                edges[from].push(Edge { to, span: None });
            }
        }
        let mut graph = Graph::with_capacity(slots.len());
        edges.iter().for_each(|edges| graph.push(edges));
        let nodes = vec![true; slots.len()];
        if let Some(traversal) = self.traversal_mut(key) {
            traversal.phase = Phase::ForEach;
            traversal.slots = slots.into_iter().map(Some).collect();
        }
        self.schedule_graph(key, &graph, &nodes);
    }

    pub(crate) fn visit_for_each(&mut self, env: &mut Env<'_>, key: StackKey, node: usize) {
        let stack = self.stack(key);
        let Some(traversal) = &stack.traversal else { return };
        if traversal.failure.is_some() {
            return;
        }
        let action = traversal.action;
        let Some(slot) = traversal.slots[node] else { return self.node_done(key, node) };
        let since = stack.updated;
        let resource = self.resource(slot);
        if resource.op.is_some() {
            return self.claim_or_park(key, slot, node);
        }
        let state = resource.state;
        let is_done = state.is(action, Status::Complete) && Some(resource.updated) >= since;
        // A snapshot must not hide that a resource has failed before.
        let is_left_alone = match action {
            Action::Snapshot => {
                state.status == Status::Failed && state.action != Action::Snapshot
                    || state.action == Action::Init
            }
            Action::Check => false,
            _ => state.action == Action::Init,
        };
        if is_done || is_left_alone {
            return self.node_done(key, node);
        }
        let name = resource.name.clone();
        if let Some(refusal) = refusal(state, action) {
            let failure = crate::failure::Failure::new("Exception", &name, refusal);
            self.set_state(env, slot, State::new(action, Status::Failed), &failure.to_string());
            return self.node_failed(env, key, action, failure);
        }
        let resource_type = self.config.types.get(&self.resource(slot).type_name);
        if action == Action::Check
            && resource_type.is_some_and(|resource_type| !resource_type.abilities.check)
        {
            let reason = format!("CHECK not supported for {}", self.resource(slot).type_name);
            if let Some(traversal) = self.traversal_mut(key) {
                traversal.keeps_objects = true;
            }
            // A failed resource stays failed: nothing was checked.
            if state.action != Action::Init && state.status != Status::Failed {
                self.set_state(env, slot, State::new(action, Status::Complete), &reason);
            }
            return self.node_done(key, node);
        }
        if state.action == Action::Init {
            let message = format!("Resource {name} not created yet.");
            let reason = crate::failure::Failure::new("Error", &name, message).to_string();
            self.set_state(env, slot, State::new(action, Status::Failed), &reason);
            self.queue.push_back(super::Task::MaybeFinish(key));
            return self.check_failed(key, slot, node, &reason);
        }
        let kind = match action {
            Action::Suspend => OperationKind::Suspend,
            Action::Resume => OperationKind::Resume,
            Action::Snapshot => OperationKind::Snapshot,
            _ => OperationKind::Check,
        };
        let start = OperationSpec { kind, action, node, target: None, requires: Vec::new() };
        self.start_operation(env, slot, start);
    }

    /// A check found something wrong: resources that need this one are skipped.
    pub(crate) fn check_failed(&mut self, key: StackKey, slot: Slot, node: usize, reason: &str) {
        let name = self.resource(slot).name.clone();
        let Some(traversal) = self.traversal_mut(key) else { return };
        traversal.check_failures.push(format!("{name}: Resource CHECK failed: {reason}"));
        // All direct and indirect users of the resource count as done.
        let mut skipped = vec![node];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(node) = skipped.pop() {
            if seen.insert(node) {
                traversal.remaining -= 1;
                skipped.extend(traversal.users.get(node));
            }
        }
        self.changes.stacks.insert(key);
    }
}

/// Why an action is not valid in the state of a resource.
fn refusal(state: State, action: Action) -> Option<String> {
    let State { action: was, status } = state;
    let is_fit = match action {
        Action::Suspend => {
            was == Action::Suspend || status == Status::Complete && was != Action::Delete
        }
        Action::Resume => {
            matches!(
                (was, status),
                (Action::Suspend, Status::Complete)
                    | (Action::Resume, Status::Failed | Status::Complete)
            )
        }
        _ => true,
    };
    (!is_fit).then(|| format!("State {state} invalid for {}", action.verb()))
}
