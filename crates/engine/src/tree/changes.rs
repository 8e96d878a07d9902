//! What has yet to be stored of a tree.

use super::{Slot, StackKey, Tree};
use crate::blueprint::Recipe;
use crate::ids::{CommandId, RecipeId, ResourceId, SnapshotId};
use crate::store::{Batch, Content, EventRow, ResourceRow};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What has yet to be stored.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) stacks: BTreeSet<StackKey>,
    pub(crate) resources: BTreeSet<Slot>,
    /// Signals of resources, by their ids in the metadata.
    pub(crate) signals: BTreeSet<(Slot, Arc<str>)>,
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

/// The size of values that counts as one row more.
const ROW_BYTES: usize = 128;

impl Tree {
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

    /// How many rows have yet to be stored. A large one counts as many.
    pub(crate) fn count_changes(&self) -> usize {
        let changes = &self.changes;
        match changes.resources.len() + changes.signals.len() + changes.events.len() {
            0 => 0,
            rows => rows + self.grown_bytes() / ROW_BYTES,
        }
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
        changes.stacks.iter().for_each(|key| self.count_stack_bytes(*key));
        changes.gone_stacks.iter().for_each(|key| self.count_stack_bytes(*key));
        changes.resources.iter().for_each(|slot| self.count_resource_bytes(*slot));
        let mut resources: Vec<ResourceRow> =
            changes.resources.iter().map(|slot| self.resource_row(*slot)).collect();
        resources
            .extend(changes.signals.iter().filter_map(|(slot, id)| self.signal_row(*slot, id)));
        self.forget_growth();
        Batch {
            root: self.root,
            fence,
            contents: contents.into_values().collect(),
            recipes,
            dropped_recipes: changes.dropped_recipes,
            stacks,
            resources,
            dropped_resources: changes.dropped_resources,
            snapshots: changes.snapshots.iter().filter_map(|id| self.snapshot_row(*id)).collect(),
            dropped_snapshots: changes.dropped_snapshots,
            events: changes.events,
            done: changes.done,
            has_work: self.has_work() || self.has_revocations(),
        }
    }
}
