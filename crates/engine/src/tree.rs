//! A tree of stacks in memory, and which of its records have yet to be stored.
//!
//! Stacks and resources are in two arenas and refer to each other by their positions there. Every change is
//! marked, and [`Tree::take_batch`] returns the rows of all that changed since the last time, each once.

use crate::blueprint::{Blueprint, Recipe, Templates};
use crate::config::Config;
use crate::drift::Observations;
use crate::failure::first_characters;
use crate::ids::{CommandId, EventId, Ids, RecipeId, ResourceId, SnapshotId, StackId};
use crate::machine::{Effect, Task, Traversal};
use crate::notification::Outbox;
use crate::partial_tree::Missing;
use crate::record::v1::EventBody;
use crate::record::{Record, StoredMembers};
use crate::snapshot::Snapshot;
use crate::state::{Action, State, Status};
use crate::store::{Batch, Content, EventRow};
use crate::time::Time;
use indexmap::IndexMap;
use kiln_cloud::Credential;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::Journal;
use kiln_resources::scaling::Cooldown;
use kiln_template::environment::Hook;
use kiln_template::resolved::ResolvedDefinition;
use kiln_template::value::{Members, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// A position in the arena of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackKey(pub(crate) u32);

/// A position in the arena of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub(crate) u32);

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
    pub(crate) stacks: Vec<Option<Stack>>,
    pub(crate) resources: Vec<Option<Resource>>,
    pub(crate) free_slots: Vec<Slot>,
    pub(crate) snapshots: BTreeMap<SnapshotId, Snapshot>,
    /// The copies that belong to snapshots, by the names of the resources they are copies of.
    pub(crate) copies: BTreeMap<(SnapshotId, Arc<str>), Slot>,
    /// How many resources there are, in all stacks; copies are none.
    pub(crate) resource_count: usize,
    pub(crate) ops: BTreeMap<OpId, Slot>,
    pub(crate) next_op: u64,
    pub(crate) next_number: u64,
    pub(crate) next_event: u64,
    /// Templates of files, read once.
    pub(crate) templates: Templates,
    /// The times at which actions and pauses end.
    pub(crate) timers: BTreeSet<(Time, Timer)>,
    pub(crate) changes: Changes,
    /// Notifications that go out once the changes are stored.
    pub(crate) outbox: Outbox,
    pub(crate) next_traversal: u64,
    /// How many stacks have a traversal.
    pub(crate) active_traversals: usize,
    /// The tasks that are left to do.
    pub(crate) queue: VecDeque<Task>,
    /// What was done, for logs and metrics; and for which requests.
    pub(crate) activity: crate::activity::ActivityLog,
    /// The effects of the step.
    pub(crate) effects: Vec<Effect>,
    /// What was observed of objects, while they are compared with their definitions.
    pub(crate) observed: Observations,
    /// What is missing, if only a part of the tree was read.
    pub(crate) missing: Option<Box<Missing>>,
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The time for a stack's action, or for winding it down, is over.
    Stack(StackKey),
    /// A pause between two tries, or two stages, is over.
    Resource(Slot, OpId),
}

/// What has yet to be stored.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) stacks: BTreeSet<StackKey>,
    pub(crate) resources: BTreeSet<Slot>,
    pub(crate) dropped_resources: Vec<ResourceId>,
    /// Nested stacks that are dropped from memory once their end is stored.
    pub(crate) gone_stacks: Vec<StackKey>,
    pub(crate) recipes: IndexMap<RecipeId, Arc<Recipe>>,
    pub(crate) dropped_recipes: Vec<RecipeId>,
    pub(crate) snapshots: BTreeSet<SnapshotId>,
    pub(crate) dropped_snapshots: Vec<SnapshotId>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) done: Vec<CommandId>,
}

/// A stack.
pub struct Stack {
    /// The id that users see.
    pub id: StackId,
    /// The name; of a nested stack, the physical name of its parent resource.
    pub name: Arc<str>,
    /// The stack and the resource that it is nested in.
    pub parent_resource: Option<(StackKey, Slot)>,
    /// The id of that resource, whose record may go first.
    pub parent_resource_id: Option<ResourceId>,
    /// How deep it is nested.
    pub depth: usize,
    /// The last action, and its status.
    pub state: State,
    /// The reason of the state, as users see it.
    pub reason: Arc<str>,
    /// When it was created.
    pub created: Time,
    /// When it was last updated.
    pub updated: Option<Time>,
    /// When it was deleted.
    pub deleted: Option<Time>,
    /// Its tags.
    pub tags: Vec<Arc<str>>,
    /// How long an action may take; `None` for the operator's default.
    pub timeout: Option<Duration>,
    /// Whether a failed create or update is rolled back.
    pub is_rolled_back: bool,
    /// Its template, files, environment and parameters.
    pub recipe: Arc<Recipe>,
    /// The recipe before the action in progress, for a rollback.
    pub previous: Option<Arc<Recipe>>,
    /// Its resources, in the order in which they were added.
    pub resources: BTreeMap<u64, Slot>,
    /// The resources of each name; the last one is current.
    pub by_name: IndexMap<Arc<str>, Vec<Slot>>,
    /// How many of its resources have an operation.
    pub(crate) busy: usize,
    pub(crate) blueprint: Option<Arc<Blueprint>>,
    pub(crate) traversal: Option<Box<Traversal>>,
}

/// A resource.
pub struct Resource {
    /// The id in the record; a replacement has another one.
    pub id: ResourceId,
    /// Its stack.
    pub stack: StackKey,
    /// Grows with each resource that is added to the tree.
    pub number: u64,
    /// Its name in the template.
    pub name: Arc<str>,
    /// The built-in type that it is of, or the type as written if that is a template.
    pub type_name: Arc<str>,
    /// The last action, and its status.
    pub state: State,
    /// The reason of the state, as users see it.
    pub reason: Arc<str>,
    /// The id that its service gave to its object.
    pub physical_id: Option<Arc<str>>,
    /// When it was added.
    pub created: Time,
    /// When its state last changed.
    pub updated: Time,
    /// The definition that was applied last; `None` if none ever was.
    pub definition: Option<Arc<ResolvedDefinition>>,
    /// Data that its handlers keep.
    pub data: Arc<Members>,
    /// The metadata.
    pub metadata: Value,
    /// The object as its service showed it last.
    pub remote: Value,
    /// The resources that it depends on.
    pub requires: Vec<ResourceId>,
    /// The resource that it replaces.
    pub replaces: Option<ResourceId>,
    /// The resource that replaces it.
    pub replaced_by: Option<ResourceId>,
    /// The snapshot that it belongs to, if it is the record of a copy of an object: such a record is in no
    /// template, and no reader sees it.
    pub copy_of: Option<SnapshotId>,
    /// Its nested stack.
    pub child: Option<StackKey>,
    /// Whether it is in doubt that there is an object: a call was lost.
    pub is_doubtful: bool,
    /// Whether a create or an update failed half-way, so that the state of the object is not known.
    pub is_half_done: bool,
    /// The size that a scaling policy asked for, while the group is being resized.
    pub wanted_size: Option<usize>,
    /// The cooldown that follows the resize.
    pub cooldown: Option<Cooldown>,
    /// The hook that it waits at.
    pub hook: Option<Hook>,
    /// The hooks that were cleared in this traversal.
    pub cleared: Vec<Hook>,
    /// The operation in progress.
    pub op: Option<Box<Operation>>,
}

/// An operation on a resource.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The id under which its reports come in.
    pub id: OpId,
    /// What it does.
    pub kind: OperationKind,
    /// The traversal that began it, and its node there; `None` if that traversal was replaced.
    pub origin: Option<(u64, usize)>,
    /// The action that it is a part of: the retries of a create are a delete and a create.
    pub action: Action,
    /// The definition that is being applied.
    pub target: Option<Arc<ResolvedDefinition>>,
    /// The dependencies of the resource by that definition.
    pub requires: Vec<ResourceId>,
    /// The values of properties that have drifted from the last definition.
    pub drifted: Arc<Members>,
    /// The steps so far.
    pub journal: Journal,
    /// How often it failed.
    pub failures: u32,
    /// The first failure, which is the one that is shown.
    pub first_failure: Option<kiln_resources::op::Failure>,
    /// Whether it is being stopped.
    pub is_stopping: bool,
    /// The snapshot for which a copy of the object is made.
    pub snapshot: Option<SnapshotId>,
    /// Whether the object is copied before it is removed.
    pub snapshot_before_delete: bool,
    /// What it waits for, if it is paused.
    pub pause: Option<Pause>,
    /// Whether the nested stack's traversal under way is the last that is needed.
    pub is_last_stage: bool,
    /// How long to wait after that traversal, if another is needed.
    pub stage_pause: Duration,
    /// How many traversals of the nested stack were begun for it.
    pub stages: u32,
}

impl Operation {
    /// Stands for the id of the stack's traversal after a restart, until a node claims the operation.
    pub(crate) const INTERRUPTED: u64 = u64::MAX;

    /// Whether the traversal of the stack began it before a restart.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.origin.is_some_and(|(number, _)| number == Operation::INTERRUPTED)
    }
}

/// What an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The next try.
    Retry(Time),
    /// The next stage of a group.
    Stage(Time),
}

impl Tree {
    pub(crate) fn stack(&self, key: StackKey) -> &Stack {
        match self.stacks.get(key.0 as usize) {
            Some(Some(stack)) => stack,
            _ => unreachable!("a key outlives no stack"),
        }
    }

    pub(crate) fn stack_mut(&mut self, key: StackKey) -> &mut Stack {
        match self.stacks.get_mut(key.0 as usize) {
            Some(Some(stack)) => stack,
            _ => unreachable!("a key outlives no stack"),
        }
    }

    pub(crate) fn resource(&self, slot: Slot) -> &Resource {
        match self.resources.get(slot.0 as usize) {
            Some(Some(resource)) => resource,
            _ => unreachable!("a slot outlives no resource"),
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
            _ => unreachable!("a slot outlives no resource"),
        }
    }

    /// The state of the root stack, and why it is in it.
    pub fn root_state(&self) -> (State, Arc<str>) {
        let root = self.stack(self.root_key());
        (root.state, root.reason.clone())
    }

    /// The root stack.
    pub fn root_key(&self) -> StackKey {
        StackKey(0)
    }

    /// Adds a stack.
    pub(crate) fn add_stack(&mut self, stack: Stack) -> StackKey {
        let key = StackKey(self.stacks.len() as u32);
        self.changes.recipes.insert(stack.recipe.id, stack.recipe.clone());
        self.stacks.push(Some(stack));
        self.changes.stacks.insert(key);
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
        let (stack, number, name) = (resource.stack, resource.number, resource.name.clone());
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
        slot
    }

    /// Removes a resource.
    pub(crate) fn drop_resource(&mut self, slot: Slot) {
        let Some(resource) = self.resources[slot.0 as usize].take() else { return };
        self.free_slots.push(slot);
        self.changes.resources.remove(&slot);
        self.changes.dropped_resources.push(resource.id);
        let stack = self.stack_mut(resource.stack);
        stack.resources.remove(&resource.number);
        if let Some(snapshot) = resource.copy_of {
            self.copies.remove(&(snapshot, resource.name));
            return;
        }
        self.resource_count -= 1;
        let stack = self.stack_mut(resource.stack);
        if let Some(slots) = stack.by_name.get_mut(&resource.name) {
            slots.retain(|other| *other != slot);
            if slots.is_empty() {
                stack.by_name.swap_remove(&resource.name);
            }
        }
        let (replaces, replaced_by) = (resource.replaces, resource.replaced_by);
        for other in [replaces, replaced_by].into_iter().flatten() {
            self.unlink_partner(resource.stack, &resource.name, other, resource.id);
        }
    }

    /// Removes the id of a resource that is gone from its partner in a replacement.
    fn unlink_partner(
        &mut self,
        stack: StackKey,
        name: &str,
        partner: ResourceId,
        gone: ResourceId,
    ) {
        let slots = self.stack(stack).by_name.get(name).cloned().unwrap_or_default();
        for slot in slots {
            if self.resource(slot).id != partner {
                continue;
            }
            let resource = self.change(slot);
            resource.replaces = resource.replaces.filter(|id| *id != gone);
            resource.replaced_by = resource.replaced_by.filter(|id| *id != gone);
        }
    }

    /// Sorts the resources of each name: the current one is not replaced, and comes last.
    pub(crate) fn sort_candidates(&mut self, key: StackKey) {
        let mut by_name = std::mem::take(&mut self.stack_mut(key).by_name);
        for slots in by_name.values_mut().filter(|slots| slots.len() > 1) {
            slots.sort_by_key(|slot| {
                let resource = self.resource(*slot);
                (resource.replaced_by.is_none(), resource.number)
            });
        }
        self.stack_mut(key).by_name = by_name;
    }

    /// The current resource of a name.
    pub(crate) fn current(&self, stack: StackKey, name: &str) -> Option<Slot> {
        let slots = self.stack(stack).by_name.get(name);
        if let (None, Some(missing)) = (slots, &self.missing) {
            missing.record(name);
        }
        slots?.last().copied()
    }

    // --- states and events ---

    pub(crate) fn set_stack_state(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        state: State,
        reason: &str,
    ) {
        let stack = self.stack_mut(key);
        stack.state = state;
        stack.reason = reason.into();
        self.changes.stacks.insert(key);
        self.stack_event(env, key, state, reason);
    }

    /// Records an event of a stack.
    pub(crate) fn stack_event(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        state: State,
        reason: &str,
    ) {
        self.notify_stack_state(env, key, state, reason);
        let stack = self.stack(key);
        let (id, name) = (stack.id, stack.name.clone());
        let physical_id = Arc::from(id.to_string());
        self.event(env, id, name, "OS::Heat::Stack".into(), physical_id, state, reason, Vec::new());
    }

    /// Sets the state of a resource; records an event if it is another one.
    pub(crate) fn set_state(&mut self, env: &mut Env<'_>, slot: Slot, state: State, reason: &str) {
        let resource = self.change(slot);
        let is_new = resource.state != state;
        resource.state = state;
        resource.reason = reason.into();
        resource.updated = env.now;
        if is_new {
            self.resource_event(env, slot, state, reason);
        }
    }

    /// Records an event of a resource.
    pub(crate) fn resource_event(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        state: State,
        reason: &str,
    ) {
        let resource = self.resource(slot);
        if resource.copy_of.is_some() {
            return;
        }
        let physical_id = match (&resource.physical_id, state.action) {
            (Some(id), _) => id.clone(),
            (None, Action::Init) => "".into(),
            (None, _) => Arc::from(self.physical_name(slot)),
        };
        // Properties are stored with the event from which on they apply.
        let target = resource.op.as_ref().and_then(|op| op.target.as_ref());
        let body = match target {
            Some(target) if state.status == Status::InProgress => {
                EventBody { properties: StoredMembers(target.properties.clone()) }.encode()
            }
            _ => Vec::new(),
        };
        let resolved = target.or(resource.definition.as_ref());
        let resource_type =
            resolved.map_or(&resource.type_name, |resolved| &resolved.type_name).clone();
        let (stack, name) = (self.stack(resource.stack).id, resource.name.clone());
        self.event(env, stack, name, resource_type, physical_id, state, reason, body);
    }

    #[allow(clippy::too_many_arguments)]
    fn event(
        &mut self,
        env: &mut Env<'_>,
        stack: StackId,
        resource: Arc<str>,
        resource_type: Arc<str>,
        physical_id: Arc<str>,
        state: State,
        reason: &str,
        body: Vec<u8>,
    ) {
        self.next_event += 1;
        self.changes.events.push(EventRow {
            id: EventId(env.ids.next_in_order(env.now, self.next_event)),
            stack,
            root: self.root,
            number: self.next_event,
            time: env.now,
            resource,
            kind: resource_type,
            physical_id,
            state,
            reason: first_characters(reason, 255).into(),
            body,
        });
    }

    /// The name under which a resource's object is known to its service.
    pub(crate) fn physical_name(&self, slot: Slot) -> String {
        let resource = self.resource(slot);
        let limit = self
            .config
            .types
            .get(&resource.type_name)
            .map_or(255, |resource_type| resource_type.name_limit);
        resource.id.physical_name(&self.stack(resource.stack).name, &resource.name, limit)
    }

    // --- storing ---

    /// Whether changes have yet to be stored.
    pub fn has_changes(&self) -> bool {
        let changes = &self.changes;
        !(changes.stacks.is_empty()
            && changes.resources.is_empty()
            && changes.dropped_resources.is_empty()
            && changes.snapshots.is_empty()
            && changes.dropped_snapshots.is_empty()
            && changes.events.is_empty()
            && changes.done.is_empty())
    }

    /// How many rows have yet to be stored.
    pub fn count_changes(&self) -> usize {
        self.changes.resources.len() + self.changes.events.len()
    }

    /// The rows of all that changed since the last time.
    pub fn take_batch(&mut self, fence: u64) -> Batch {
        let changes = std::mem::take(&mut self.changes);
        let mut contents: IndexMap<_, Content> = IndexMap::new();
        let mut recipes = Vec::with_capacity(changes.recipes.len());
        for recipe in changes.recipes.values() {
            recipes.push(recipe.row(self.root, &mut contents));
        }
        let stacks = changes.stacks.iter().map(|key| self.stack_row(*key)).collect();
        let sinks = &self.stack(self.root_key()).recipe.environment.event_sinks;
        if !sinks.is_empty() {
            self.outbox.sinks = sinks.clone();
            self.outbox.events.extend(changes.events.iter().cloned());
        }
        for key in &changes.gone_stacks {
            self.stacks[key.0 as usize] = None;
        }
        Batch {
            root: self.root,
            fence,
            contents: contents.into_values().collect(),
            recipes,
            dropped_recipes: changes.dropped_recipes,
            stacks,
            resources: changes.resources.iter().map(|slot| self.resource_row(*slot)).collect(),
            dropped_resources: changes.dropped_resources,
            snapshots: changes.snapshots.iter().filter_map(|id| self.snapshot_row(*id)).collect(),
            dropped_snapshots: changes.dropped_snapshots,
            events: changes.events,
            done: changes.done,
            has_work: self.has_work() || self.has_revocations(),
        }
    }

    /// Whether an action or an operation is in progress.
    pub fn has_work(&self) -> bool {
        !self.ops.is_empty() || self.active_traversals > 0
    }

    /// When to call again at the latest, if nothing happens before.
    pub fn next_wake(&self) -> Option<Time> {
        self.timers.first().map(|(time, _)| *time)
    }
}
