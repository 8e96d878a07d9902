//! A tree of stacks in memory, and which of its records have yet to be stored.
//!
//! Stacks and resources are in two arenas and refer to each other by their positions there. Every change is
//! marked, and [`Tree::take_batch`] returns the rows of all that changed since the last time, each once.

mod changes;
mod current;
mod events;
mod kept;
mod operation;
mod resource;
mod signals;
mod stack;

pub(crate) use changes::Changes;
pub(crate) use kept::KeptBytes;
pub(crate) use operation::{HandlerRun, NodeId, Operation, Origin, Pause, Resizing, Stages, Work};
pub(crate) use resource::{HalfDone, Resource};
pub(crate) use signals::Signals;
pub(crate) use stack::Stack;

use crate::blueprint::Templates;
use crate::config::Config;
use crate::drift::Observations;
use crate::ids::{Ids, SnapshotId, StackId};
use crate::notification::Outbox;
use crate::partial_tree::Missing;
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::time::Time;
use kiln_cloud::Credential;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A position in the arena of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StackKey(pub(crate) u32);

/// A position in the arena of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(pub(crate) u32);

/// The id of an operation; never used twice in a tree's life in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u64);

/// What the machine gets from its caller: the time and new ids.
pub struct Env<'e> {
    /// The current time.
    pub now: Time,
    /// Where new ids come from.
    pub ids: &'e mut dyn Ids,
}

/// A root stack with all stacks nested in it.
pub struct Tree {
    pub(crate) config: Arc<Config>,
    pub(crate) root: StackId,
    pub(crate) project: Arc<str>,
    pub(crate) user_name: Arc<str>,
    /// The credential that calls are made with.
    pub(crate) credential: Arc<Credential>,
    /// The id of the project of its users; empty if it is not known whether there is one.
    pub(crate) users: Option<Arc<str>>,
    /// Trusts and application credentials that are to be revoked.
    pub(crate) to_revoke: Vec<Arc<Credential>>,
    /// How many stacks made this one, one through the other, as resources of the type `OS::Heat::Stack`.
    pub(crate) makers: u64,
    pub(crate) stacks: Vec<Option<Stack>>,
    pub(crate) resources: Vec<Option<Resource>>,
    pub(crate) free_slots: Vec<Slot>,
    pub(crate) snapshots: BTreeMap<SnapshotId, Snapshot>,
    /// The copies that belong to snapshots, by the names of the resources they are copies of.
    pub(crate) copies: BTreeMap<(SnapshotId, Arc<str>), Slot>,
    /// How many resources there are, in all stacks; copies are none.
    pub(crate) resource_count: usize,
    /// How many resources the traversals under way are going to add.
    pub(crate) announced: usize,
    /// How many bytes of values the tree keeps.
    pub(crate) kept_bytes: KeptBytes,
    pub(crate) ops: BTreeMap<OpId, Slot>,
    pub(crate) next_op: u64,
    pub(crate) next_number: u64,
    pub(crate) next_event: u64,
    /// Templates of files, read once.
    pub(crate) templates: Templates,
    pub(crate) changes: Changes,
    /// Notifications that go out once the changes are stored.
    pub(crate) outbox: Outbox,
    /// The id of the last schedule.
    pub(crate) next_schedule: u64,
    /// How many stacks have a traversal.
    pub(crate) active_traversals: usize,
    /// What was observed of objects, while they are compared with their definitions.
    pub(crate) observed: Observations,
    /// The resources whose attributes were evaluated, if a reader wants to know.
    pub(crate) evaluated: Option<Box<Mutex<BTreeSet<Slot>>>>,
    /// What is missing, if only a part of the tree was read.
    pub(crate) missing: Option<Box<Missing>>,
    /// The time of the step, or of the reading, for expressions that ask for it.
    pub(crate) moment: Option<Time>,
}

impl Tree {
    /// Whether a stack is still in memory: a task or a timer may outlive it.
    pub(crate) fn has_stack(&self, key: StackKey) -> bool {
        self.stacks.get(key.0 as usize).is_some_and(Option::is_some)
    }

    /// The stack with a key.
    pub(crate) fn stack(&self, key: StackKey) -> &Stack {
        match self.stacks.get(key.0 as usize) {
            Some(Some(stack)) => stack,
            _ => unreachable!("there is no stack with this key"),
        }
    }

    /// The stack with a key.
    pub(crate) fn stack_mut(&mut self, key: StackKey) -> &mut Stack {
        match self.stacks.get_mut(key.0 as usize) {
            Some(Some(stack)) => stack,
            _ => unreachable!("there is no stack with this key"),
        }
    }

    /// The resource in a slot.
    pub(crate) fn resource(&self, slot: Slot) -> &Resource {
        match self.resources.get(slot.0 as usize) {
            Some(Some(resource)) => resource,
            _ => unreachable!("there is no resource in this slot"),
        }
    }

    /// A resource that is about to be changed: its row will be stored.
    pub(crate) fn change(&mut self, slot: Slot) -> &mut Resource {
        self.changes.resources.insert(slot);
        self.resource_mut(slot)
    }

    /// A resource of which nothing changes that is stored.
    pub(crate) fn resource_mut(&mut self, slot: Slot) -> &mut Resource {
        match self.resources.get_mut(slot.0 as usize) {
            Some(Some(resource)) => resource,
            _ => unreachable!("there is no resource in this slot"),
        }
    }

    /// The state of the root stack, and why it is in it.
    pub fn root_state(&self) -> (State, Arc<str>) {
        let root = self.stack(self.root_key());
        (root.summary.state, root.summary.reason.clone())
    }

    /// The root stack.
    pub(crate) fn root_key(&self) -> StackKey {
        StackKey(0)
    }

    /// Adds a stack.
    pub(crate) fn add_stack(&mut self, stack: Stack) -> StackKey {
        let key = StackKey(self.stacks.len() as u32);
        self.changes.recipes.insert(stack.recipe.id, stack.recipe.clone());
        self.stacks.push(Some(stack));
        self.changes.stacks.insert(key);
        self.count_stack_bytes(key);
        key
    }

    /// Adds a resource to a stack, as the current one of its name.
    pub(crate) fn add_resource(&mut self, mut resource: Resource) -> Slot {
        resource.number = self.next_number;
        self.next_number += 1;
        let slot = self.insert_resource(resource);
        self.changes.resources.insert(slot);
        slot
    }

    /// Reserves memory for so many new resources: growing little by little takes twice as much.
    pub(crate) fn reserve_resources(&mut self, resources: usize) {
        self.resources.reserve(resources.saturating_sub(self.free_slots.len()));
        // Each has an event at its beginning and at its end.
        self.changes.events.reserve(2 * resources);
    }

    /// Inserts a resource in memory, without marking it as changed.
    pub(crate) fn insert_resource(&mut self, resource: Resource) -> Slot {
        let (stack, number, name) =
            (resource.stack, resource.number, resource.summary.name.clone());
        let copy_of = resource.copy_of;
        let slot = match self.free_slots.pop() {
            Some(slot) => {
                self.resources[slot.0 as usize] = Some(resource);
                slot
            }
            None => {
                self.resources.push(Some(resource));
                Slot(self.resources.len() as u32 - 1)
            }
        };
        let stack = self.stack_mut(stack);
        stack.resources.insert(number, slot);
        match copy_of {
            Some(snapshot) => _ = self.copies.insert((snapshot, name), slot),
            None => {
                stack.by_name.entry(name).or_default().push(slot);
                self.resource_count += 1;
            }
        }
        self.count_resource_bytes(slot);
        slot
    }

    /// Removes a resource.
    pub(crate) fn drop_resource(&mut self, slot: Slot) {
        self.forget_signals(slot);
        let Some(resource) = self.resources[slot.0 as usize].take() else { return };
        self.free_slots.push(slot);
        self.count_resource_bytes(slot);
        self.changes.resources.remove(&slot);
        self.changes.dropped_resources.push(resource.id);
        let stack = self.stack_mut(resource.stack);
        stack.resources.remove(&resource.number);
        if let Some(snapshot) = resource.copy_of {
            self.copies.remove(&(snapshot, resource.summary.name));
            return;
        }
        self.resource_count -= 1;
        current::forget(self.stack_mut(resource.stack), &resource.summary.name, slot);
        let Resource { stack, id, replaces, replaced_by, summary, .. } = resource;
        self.relink(stack, &summary.name, id, replaces, replaced_by);
    }

    /// The name under which a resource's object is known to its service.
    pub(crate) fn physical_name(&self, slot: Slot) -> String {
        let resource = self.resource(slot);
        let limit = self
            .config
            .types
            .get(&resource.summary.type_name)
            .map_or(255, |resource_type| resource_type.name_limit);
        resource.id.physical_name(
            &self.stack(resource.stack).summary.name,
            &resource.summary.name,
            limit,
        )
    }

    /// Whether an action or an operation is in progress.
    pub fn has_work(&self) -> bool {
        !self.ops.is_empty() || self.active_traversals > 0
    }
}
