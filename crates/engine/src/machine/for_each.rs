//! The same operation on every resource of a stack: suspend, resume, check, snapshot.

use super::Machine;
use super::operations::OperationSpec;
use super::reached::Transition;
use super::traversal::Phase;
use crate::failure::Failure;
use crate::state::{Action, State, Status};
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::FailureClass;
use kiln_template::{Edge, Graph};

impl Machine {
    /// Begins the only phase of a suspend, a resume, a check or a snapshot.
    pub(crate) fn start_for_each(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        let slots: Vec<Slot> =
            slots.into_iter().filter(|slot| self.tree.is_current(*slot)).collect();
        if let Some((action, failure)) = self.tree.first_refusal(key, &slots) {
            self.reached.hit(Transition::ActionRefused);
            return self.node_failed(env, key, action, failure);
        }
        let graph = self.tree.graph_of_each(key, &slots);
        self.schedule_slots(key, Phase::ForEach, slots, &graph);
    }

    /// Visits a resource: the action is applied to it.
    pub(crate) fn visit_for_each(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        slot: Option<Slot>,
        node: usize,
    ) {
        let stack = self.tree.stack(key);
        let Some(traversal) = stack.traversal.as_deref().filter(|it| it.failure.is_none()) else {
            return;
        };
        let action = traversal.action;
        let Some(slot) = slot else { return self.node_done(key, node) };
        let since = stack.summary.updated;
        let resource = self.tree.resource(slot);
        if resource.op.is_some() {
            return self.claim_or_park(key, slot, node);
        }
        let state = resource.summary.state;
        let is_done = state.is(action, Status::Complete) && Some(resource.summary.updated) >= since;
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
        let name = resource.summary.name.clone();
        // An operation that was awaited may have failed.
        if let Some(refusal) = refusal(state, action) {
            let failure = Failure::new(FailureClass::Error, &name, refusal);
            return self.node_failed(env, key, action, failure);
        }
        let resource_type = self.tree.config.types.get(&self.tree.resource(slot).summary.type_name);
        if action == Action::Check
            && resource_type.is_some_and(|resource_type| !resource_type.abilities.check)
        {
            self.reached.hit(Transition::CheckUnsupported);
            let reason =
                format!("CHECK not supported for {}", self.tree.resource(slot).summary.type_name);
            if let Some(traversal) = self.traversal_mut(key) {
                traversal.check.is_incomplete = true;
                self.tree.changes.stacks.insert(key);
            }
            // A failed resource stays failed: nothing was checked.
            if state.action != Action::Init && state.status != Status::Failed {
                self.tree.set_state(env, slot, State::new(action, Status::Complete), &reason);
            }
            return self.node_done(key, node);
        }
        if state.action == Action::Init {
            let message = format!("Resource {name} not created yet.");
            let reason = Failure::new(FailureClass::Error, &name, message).to_string();
            self.tree.set_state(env, slot, State::new(action, Status::Failed), &reason);
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
        let name = self.tree.resource(slot).summary.name.clone();
        let Some(traversal) = self.traversal_mut(key) else {
            return self.unexpected(key, "a check fails without a traversal");
        };
        traversal.check.failures.push(format!("{name}: Resource CHECK failed: {reason}"));
        if let Some(schedule) = traversal.schedule_mut() {
            schedule.skip(node);
        }
        self.tree.changes.stacks.insert(key);
    }
}

impl Tree {
    /// The first of some resources whose state does not allow the action under way: it fails before anything is touched.
    fn first_refusal(&self, key: StackKey, slots: &[Slot]) -> Option<(Action, Failure)> {
        let action = self.traversal(key)?.action;
        let refused = slots.iter().find_map(|slot| {
            let resource = self.resource(*slot);
            // An operation in progress is awaited first.
            let is_left_alone =
                resource.op.is_some() || resource.summary.state.action == Action::Init;
            let refusal = refusal(resource.summary.state, action).filter(|_| !is_left_alone)?;
            Some(Failure::new(FailureClass::Error, &resource.summary.name, refusal))
        });
        Some((action, refused?))
    }

    /// The failure of a check of a resource that was never created.
    pub(crate) fn failure_of_missing_object(&self, slot: Slot) -> Failure {
        let name = &self.resource(slot).summary.name;
        match self.is_nested(slot) {
            true => {
                let message = format!("Cannot check {name}, stack not created");
                Failure::new(FailureClass::Error, name, message)
            }
            false => Failure::new(FailureClass::Exception, name, "Resource not created"),
        }
    }

    /// The order of an action on each of some resources: after its dependencies, or before them if it is a suspend.
    fn graph_of_each(&self, key: StackKey, slots: &[Slot]) -> Graph {
        let is_backwards =
            self.traversal(key).is_some_and(|traversal| traversal.action == Action::Suspend);
        let positions = self.positions(slots);
        let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); slots.len()];
        for (at, slot) in slots.iter().enumerate() {
            let needed = self.resource(*slot).requires.iter().filter_map(|id| positions.get(id));
            for needed in needed {
                let (from, to) = if is_backwards { (*needed, at) } else { (at, *needed) };
                edges[from].push(Edge { to, span: None });
            }
        }
        let mut graph = Graph::with_capacity(slots.len());
        edges.iter().for_each(|edges| graph.push(edges));
        graph
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
    (!is_fit).then(|| format!("State ('{was}', '{status}') invalid for {}", action.verb()))
}
