//! What is true after every step. Debug builds and the simulation check it.

use super::Machine;
use super::schedule::NodeState;
use super::traversal::Phase;
use crate::tree::{Origin, Resource, Slot, Stack, StackKey, Work};

/// Of a tree with more resources than this, not every step is checked.
const CHECKED_EVERY_STEP: usize = 200;

impl Machine {
    /// Panics if the state contradicts itself. Of a large tree only some steps are checked, so that a step costs the
    /// same however large the tree is.
    pub(crate) fn assert_invariants(&mut self) {
        self.steps += 1;
        let interval = 1 + self.tree.resources.len() / CHECKED_EVERY_STEP;
        if self.steps.is_multiple_of(interval) {
            let found = self.check_invariants();
            assert!(found.is_empty(), "the state contradicts itself: {found:#?}");
        }
    }

    /// What contradicts itself in the state.
    pub fn check_invariants(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.check_operations(&mut found);
        self.tree.check_kept_bytes(&mut found);
        let traversals = self.stacks().filter(|(_, stack)| stack.traversal.is_some()).count();
        if traversals != self.tree.active_traversals {
            found.push(format!("{traversals} traversals, {} counted", self.tree.active_traversals));
        }
        let traversals = self.stacks().filter_map(|(_, stack)| stack.traversal.as_deref());
        let announced: usize = traversals.map(|traversal| traversal.announced).sum();
        if announced != self.tree.announced {
            found.push(format!("{announced} resources announced, {} counted", self.tree.announced));
        }
        for (key, stack) in self.stacks() {
            let mut flaws = Vec::new();
            self.check_stack(key, stack, &mut flaws);
            found.extend(flaws.into_iter().map(|flaw| format!("{}: {flaw}", stack.summary.name)));
        }
        found
    }

    fn stacks(&self) -> impl Iterator<Item = (StackKey, &Stack)> {
        let stacks = self.tree.stacks.iter().enumerate();
        stacks.filter_map(|(at, stack)| Some((StackKey(at as u32), stack.as_ref()?)))
    }

    fn resources(&self) -> impl Iterator<Item = (Slot, &Resource)> {
        let resources = self.tree.resources.iter().enumerate();
        resources.filter_map(|(at, resource)| Some((Slot(at as u32), resource.as_ref()?)))
    }

    /// The list of operations and the operations of the resources are the same, and each will come to its end.
    fn check_operations(&self, found: &mut Vec<String>) {
        let busy = self.resources().filter(|(_, resource)| resource.op.is_some()).count();
        if busy != self.tree.ops.len() {
            found.push(format!("{busy} operations, {} listed", self.tree.ops.len()));
        }
        for (slot, resource) in self.resources() {
            let Some(op) = &resource.op else { continue };
            if self.tree.ops.get(&op.id) != Some(&slot) {
                found.push(format!("the operation on {} is not listed", resource.summary.name));
            }
            if let Some(pause) = op.pause
                && !self.timers.contains(&(pause.until(), super::Timer::Resource(slot, op.id)))
            {
                found.push(format!("nothing ends the pause of {}", resource.summary.name));
            }
            let is_nested = matches!(op.work, Work::Nested(_) | Work::Resize(_));
            if is_nested && op.pause.is_none() && !self.will_end_nested(slot, resource) {
                found.push(format!("nothing ends the operation on {}", resource.summary.name));
            }
        }
    }

    /// Whether the operation on a nested stack has a traversal that ends it, or is about to end.
    fn will_end_nested(&self, slot: Slot, resource: &Resource) -> bool {
        let is_ending = |task: &super::Task| match task {
            super::Task::FinishOperation(op) => self.tree.ops.get(op) == Some(&slot),
            _ => false,
        };
        resource.child.is_some_and(|child| self.tree.traversal(child).is_some())
            || self.queue.iter().any(is_ending)
    }

    fn check_stack(&self, key: StackKey, stack: &Stack, found: &mut Vec<String>) {
        let resources = || stack.resources.values().map(|slot| self.tree.resource(*slot));
        let busy = resources().filter(|resource| resource.op.is_some()).count();
        if busy != stack.busy {
            found.push(format!("{busy} resources are busy, {} counted", stack.busy));
        }
        let named: usize = stack.by_name.values().map(Vec::len).sum();
        let copies = resources().filter(|resource| resource.copy_of.is_some()).count();
        if named + copies != stack.resources.len() {
            found.push(format!("{named} resources are named, of {}", stack.resources.len()));
        }
        self.tree.check_current(key, found);
        self.check_nesting(key, stack, found);
        self.check_traversal(key, stack, found);
    }

    /// A nested stack and its parent resource refer to each other.
    fn check_nesting(&self, key: StackKey, stack: &Stack, found: &mut Vec<String>) {
        let is_gone = stack.summary.deleted.is_some();
        if let Some((_, slot)) = stack.parent_resource.filter(|_| !is_gone) {
            let parent_resource = self.tree.resources.get(slot.0 as usize).and_then(Option::as_ref);
            if parent_resource.and_then(|it| it.child) != Some(key) {
                found.push("its parent resource does not know it".into());
            }
        }
    }

    /// A traversal has a timer, and no node of it is forgotten.
    fn check_traversal(&self, key: StackKey, stack: &Stack, found: &mut Vec<String>) {
        let Some(traversal) = &stack.traversal else {
            let waits = stack.resources.values().map(|slot| self.tree.resource(*slot));
            for resource in waits.filter(|resource| resource.hook.is_some()) {
                found.push(format!(
                    "{} waits at a hook, and nothing is under way",
                    resource.summary.name
                ));
            }
            return;
        };
        let has_timer = |time| self.timers.contains(&(time, super::Timer::Stack(key)));
        if traversal.failure.is_none()
            && self.tree.has_own_deadline(key)
            && !has_timer(traversal.deadline)
            && !matches!(traversal.phase, Phase::Refresh(_))
        {
            found.push("nothing ends its traversal in time".into());
        }
        if traversal.is_deferred() && stack.parent_resource.is_none() {
            found.push("a root stack defers its cleanup".into());
        }
        let Some(schedule) = traversal.schedule() else { return };
        schedule.check(found);
        for (slot, node) in schedule.parked() {
            if self.tree.resources.get(slot.0 as usize).is_none_or(Option::is_none) {
                found.push(format!("node {node} waits for a resource that is gone"));
            }
        }
        if traversal.failure.is_some() {
            return;
        }
        // A node that was visited waits for something.
        let mut awaited = vec![false; schedule.nodes().len()];
        schedule.parked().for_each(|(_, node)| awaited[node] = true);
        for slot in stack.resources.values() {
            let op = self.tree.resource(*slot).op.as_ref();
            if let Some(Origin::Node(id)) = op.map(|op| op.origin)
                && id.schedule == schedule.id
                && let Some(awaited) = awaited.get_mut(id.node)
            {
                *awaited = true;
            }
        }
        for (node, state) in schedule.nodes().iter().enumerate() {
            if *state == NodeState::Visited && !awaited[node] {
                found.push(format!("node {node} was visited and forgotten"));
            }
        }
    }
}
