//! How many bytes of values a tree keeps, and whether there is room for more.
//!
//! The sum is kept up to date: each resource and each stack is counted when it is loaded, when its row is written and when
//! it gets a new definition. Nothing is recounted otherwise, so a step costs the same however large the tree is.

use super::signals::metadata_bytes;
use super::{HalfDone, Resource, Slot, Stack, StackKey, Tree};
use crate::failure::Failure;
use crate::ids::SnapshotId;
use kiln_resources::op::FailureClass;
use kiln_template::{Budget, Members, ResolvedDefinition, Value, members_byte_size};
use std::collections::BTreeMap;

/// How much the evaluation of a definition may compute, as a multiple of what a resource may keep.
const EVALUATION_FACTOR: usize = 4;

/// The bytes that resources, stacks and snapshots keep.
#[derive(Default)]
pub(crate) struct KeptBytes {
    total: usize,
    /// By how many bytes resources have grown since the last rows were taken.
    grown: usize,
    resources: Vec<usize>,
    stacks: Vec<usize>,
    snapshots: BTreeMap<SnapshotId, usize>,
}

impl KeptBytes {
    fn set_resource(&mut self, slot: Slot, bytes: usize) {
        let counted = entry(&mut self.resources, slot.0);
        self.grown = self.grown.saturating_add(bytes.saturating_sub(*counted));
        self.total = (self.total - *counted).saturating_add(bytes);
        *counted = bytes;
    }

    fn set_stack(&mut self, key: StackKey, bytes: usize) {
        let counted = entry(&mut self.stacks, key.0);
        self.total = (self.total - *counted).saturating_add(bytes);
        *counted = bytes;
    }

    fn set_snapshot(&mut self, id: SnapshotId, bytes: usize) {
        let counted = match bytes {
            0 => self.snapshots.remove(&id),
            _ => self.snapshots.insert(id, bytes),
        };
        let counted = counted.unwrap_or(0);
        self.total = (self.total - counted).saturating_add(bytes);
    }

    fn resource(&self, slot: Slot) -> usize {
        self.resources.get(slot.0 as usize).copied().unwrap_or(0)
    }
}

fn entry(list: &mut Vec<usize>, at: u32) -> &mut usize {
    let at = at as usize;
    if list.len() <= at {
        list.resize(at + 1, 0);
    }
    &mut list[at]
}

/// What a resource keeps. While it changes from one definition to another, the larger one counts.
fn resource_bytes(resource: &Resource) -> usize {
    let attempted = match &resource.half_done {
        Some(HalfDone::Update(attempted)) => members_byte_size(attempted),
        _ => 0,
    };
    definition_bytes(resource)
        .saturating_add(attempted)
        .saturating_add(members_byte_size(&resource.data))
        .saturating_add(metadata_bytes(resource))
        .saturating_add(resource.remote.byte_size())
}

fn definition_bytes(resource: &Resource) -> usize {
    let size = |definition: Option<&ResolvedDefinition>| definition.map_or(0, |it| it.byte_size());
    let target = resource.op.as_ref().and_then(|op| op.target.as_deref());
    size(resource.definition.as_deref()).max(size(target))
}

fn stack_bytes(stack: &Stack) -> usize {
    stack.recipe.made_bytes().max(stack.previous.as_ref().map_or(0, |it| it.made_bytes()))
}

impl Tree {
    /// How many bytes of memory the tree takes, roughly.
    pub(crate) fn memory_bytes(&self) -> usize {
        /// A resource or a stack without its values.
        const RECORD: usize = 2048;
        let stacks = self.stacks.iter().flatten();
        let recipes = stacks.map(|stack| RECORD + stack.recipe.text_bytes());
        self.kept_bytes.total + self.resource_count * RECORD + recipes.sum::<usize>()
    }

    /// How many bytes of values the tree keeps.
    pub(crate) fn value_bytes(&self) -> usize {
        self.kept_bytes.total
    }

    /// By how many bytes the resources of the tree have grown in this step.
    pub(crate) fn grown_bytes(&self) -> usize {
        self.kept_bytes.grown
    }

    /// Begins to count the growth of resources anew.
    pub(crate) fn forget_growth(&mut self) {
        self.kept_bytes.grown = 0;
    }

    /// Counts a resource again.
    pub(crate) fn count_resource_bytes(&mut self, slot: Slot) {
        let resource = self.resources.get(slot.0 as usize).and_then(Option::as_ref);
        let bytes = resource.map_or(0, resource_bytes);
        self.kept_bytes.set_resource(slot, bytes);
    }

    /// Counts a stack again.
    pub(crate) fn count_stack_bytes(&mut self, key: StackKey) {
        let stack = self.stacks.get(key.0 as usize).and_then(Option::as_ref);
        let bytes = stack.map_or(0, stack_bytes);
        self.kept_bytes.set_stack(key, bytes);
    }

    /// Counts a snapshot again.
    pub(crate) fn count_snapshot_bytes(&mut self, id: SnapshotId) {
        let bytes = self.snapshots.get(&id).map_or(0, |snapshot| {
            members_byte_size(&snapshot.data)
                .saturating_add(snapshot.text.as_ref().map_or(0, |text| text.len()))
        });
        self.kept_bytes.set_snapshot(id, bytes);
    }

    /// Fails if a snapshot of all resources makes the tree larger than the operator allows; the error is the reason.
    pub(crate) fn check_snapshot_size(&self) -> Result<(), String> {
        let resources =
            self.kept_bytes.resources.iter().fold(0, |sum: usize, it| sum.saturating_add(*it));
        let (bytes, max) =
            (self.kept_bytes.total.saturating_add(resources), self.config.byte_limits.tree);
        match bytes <= max {
            true => Ok(()),
            false => Err(format!(
                "Request limit exceeded: the stack with this snapshot is {bytes} bytes, the limit [kiln] max_stack_bytes is \
                 {max}. Next step: delete other snapshots, or ask the operator to raise the limit."
            )),
        }
    }

    /// Whether the sum is the one that a recount gives, for all that is stored as it is.
    pub(crate) fn check_kept_bytes(&self, found: &mut Vec<String>) {
        let parts = self.kept_bytes.resources.iter().chain(&self.kept_bytes.stacks);
        let sum: usize = parts.chain(self.kept_bytes.snapshots.values()).sum();
        if sum != self.kept_bytes.total {
            found.push(format!("{sum} bytes are kept, {} counted", self.kept_bytes.total));
        }
        for (at, resource) in self.resources.iter().enumerate() {
            let slot = Slot(at as u32);
            let bytes = resource.as_ref().map_or(0, resource_bytes);
            let counted = self.kept_bytes.resource(slot);
            if bytes != counted && !self.changes.resources.contains(&slot) {
                found.push(format!("resource {at} keeps {bytes} bytes, {counted} counted"));
            }
            let metadata =
                resource.as_ref().map(|it| (it.metadata.byte_size(), metadata_bytes(it)));
            if let Some((bytes, counted)) = metadata.filter(|(bytes, counted)| bytes != counted) {
                found.push(format!(
                    "resource {at} has {bytes} bytes of metadata, {counted} counted"
                ));
            }
        }
        for (at, stack) in self.stacks.iter().enumerate() {
            let key = StackKey(at as u32);
            let bytes = stack.as_ref().map_or(0, stack_bytes);
            let counted = self.kept_bytes.stacks.get(at).copied().unwrap_or(0);
            if bytes != counted && !self.changes.stacks.contains(&key) {
                found.push(format!("stack {at} keeps {bytes} bytes, {counted} counted"));
            }
        }
    }

    /// Fails if a definition makes a value, its resource or the tree larger than the operator allows. What is no larger than
    /// it was stays possible: the tree may be older than the limit.
    pub(crate) fn check_definition_size(
        &self,
        slot: Option<Slot>,
        name: &str,
        definition: &ResolvedDefinition,
    ) -> Result<(), Box<Failure>> {
        let resource = slot.map(|slot| self.resource(slot));
        let former = resource.and_then(|it| it.definition.as_deref());
        let limit = self.config.byte_limits.value;
        let was = |get: &dyn Fn(&ResolvedDefinition) -> Option<usize>| former.and_then(get);
        for (property, value) in definition.properties.iter() {
            let bytes = value.byte_size();
            let before = was(&|it| it.properties.get(property).map(Value::byte_size));
            if bytes > limit && before.is_none_or(|before| bytes > before) {
                let path = format!("properties.{property}");
                return Err(Limit::Value.failure(name, &path, bytes, limit));
            }
        }
        let bytes = definition.metadata.byte_size();
        if bytes > limit && was(&|it| Some(it.metadata.byte_size())).is_none_or(|it| bytes > it) {
            return Err(Limit::Value.failure(name, "metadata", bytes, limit));
        }
        // The metadata is stored once more, as signals change it.
        let bytes = definition.byte_size().saturating_add(bytes);
        let before = resource.map_or(0, |it| definition_bytes(it) + it.metadata.byte_size());
        self.check_growth(slot, before, bytes)
            .map_err(|(limit, bytes, max)| limit.failure(name, "", bytes, max))
    }

    /// Fails if the resources of a new tree, up to this one, have more bytes than the operator allows.
    pub(crate) fn check_total(&self, resource: &str, bytes: usize) -> Result<(), Box<Failure>> {
        let max = self.config.byte_limits.tree;
        match bytes <= max {
            true => Ok(()),
            false => Err(Limit::Tree.failure(resource, "", bytes, max)),
        }
    }

    /// Fails if the template and the parameters of a nested stack make the tree larger than the operator allows.
    pub(crate) fn check_nested_size(&self, slot: Slot, bytes: usize) -> Result<(), Box<Failure>> {
        let resource = self.resource(slot);
        let before = resource.child.map_or(0, |child| stack_bytes(self.stack(child)));
        self.check_growth(None, before, bytes)
            .map_err(|(limit, bytes, max)| limit.failure(&resource.summary.name, "", bytes, max))
    }

    /// Fails if a value that an operation reports is larger than the operator allows, or makes its resource or the tree so.
    pub(crate) fn check_reported_size(
        &self,
        slot: Slot,
        what: &str,
        before: &Value,
        value: &Value,
    ) -> Result<(), Box<Failure>> {
        let (before, bytes) = (before.byte_size(), value.byte_size());
        let name = &self.resource(slot).summary.name;
        let max = self.config.byte_limits.value;
        if bytes > max && bytes > before {
            return Err(Limit::Value.failure(name, what, bytes, max));
        }
        self.check_growth(Some(slot), before, bytes)
            .map_err(|(limit, bytes, max)| limit.failure(name, what, bytes, max))
    }

    /// Fails if what is known of an object that is adopted is larger than the operator allows.
    pub(crate) fn check_adopted_size(
        &self,
        slot: Slot,
        data: &Members,
        parts: [&Option<Value>; 2],
    ) -> Result<(), Box<Failure>> {
        let name = &self.resource(slot).summary.name;
        let max = self.config.byte_limits.value;
        let values = data.values().chain(parts.into_iter().flatten()).map(Value::byte_size);
        let (largest, total) = values
            .fold((0, 0_usize), |(largest, total), it| (it.max(largest), total.saturating_add(it)));
        if largest > max {
            return Err(Limit::Value.failure(name, "", largest, max));
        }
        self.check_growth(Some(slot), 0, total)
            .map_err(|(limit, bytes, max)| limit.failure(name, "", bytes, max))
    }

    /// The budget of all expressions of a resource's definition.
    pub(crate) fn evaluation_budget(&self, slot: Option<Slot>) -> Budget {
        let kept = slot.map_or(0, |slot| self.kept_bytes.resource(slot));
        Budget::new(self.config.byte_limits.resource.max(kept).saturating_mul(EVALUATION_FACTOR))
    }

    /// Whether a resource may be replaced. The first replacement is always possible; a resource that was replaced before, and
    /// whose predecessors could not be deleted yet, is replaced again as long as the tree is no larger than twice its limits,
    /// so that failed updates do not make it grow without end.
    pub(crate) fn may_be_replaced(&self, slot: Slot, definition: &ResolvedDefinition) -> bool {
        let resource = self.resource(slot);
        let namesakes =
            self.stack(resource.stack).by_name.get(&resource.summary.name).map_or(0, Vec::len);
        let max = self.config.max_resources.map_or(usize::MAX, |limit| limit.saturating_mul(2));
        let bytes = self.kept_bytes.total.saturating_add(definition.byte_size());
        let has_room =
            self.resource_count < max && bytes <= self.config.byte_limits.tree.saturating_mul(2);
        namesakes < 2 || has_room
    }

    /// Whether the metadata of a resource may become this.
    pub(crate) fn has_room_for_metadata(&self, slot: Slot, metadata: &Value) -> bool {
        let before = &self.resource(slot).metadata;
        self.check_reported_size(slot, "metadata", before, metadata).is_ok()
    }

    fn check_growth(
        &self,
        slot: Option<Slot>,
        before: usize,
        bytes: usize,
    ) -> Result<(), (Limit, usize, usize)> {
        let limits = &self.config.byte_limits;
        if bytes <= before {
            return Ok(());
        }
        let growth = bytes - before;
        let resource = slot.map_or(0, |slot| self.kept_bytes.resource(slot)).saturating_add(growth);
        if resource.max(bytes) > limits.resource {
            return Err((Limit::Resource, resource.max(bytes), limits.resource));
        }
        let tree = self.kept_bytes.total.saturating_add(growth);
        if tree > limits.tree {
            return Err((Limit::Tree, tree, limits.tree));
        }
        Ok(())
    }
}

/// A limit, with what it limits.
#[derive(Clone, Copy)]
enum Limit {
    Value,
    Resource,
    Tree,
}

impl Limit {
    /// The failure of a resource that exceeds it.
    fn failure(self, resource: &str, path: &str, bytes: usize, max: usize) -> Box<Failure> {
        let (what, option) = match self {
            Limit::Value => ("the value", "max_value_bytes"),
            Limit::Resource => ("the resource", "max_resource_bytes"),
            Limit::Tree => ("the stack with this resource", "max_stack_bytes"),
        };
        let message = format!(
            "Request limit exceeded: {what} is {bytes} bytes, the limit [kiln] {option} is {max}. Next step: make the value \
             smaller, keep large data in the object store, or ask the operator to raise the limit."
        );
        Box::new(Failure::new(FailureClass::RequestLimitExceeded, resource, message).at(path))
    }
}
