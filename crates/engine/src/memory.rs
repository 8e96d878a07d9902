//! The twin of the store, in memory: as strict as a database, and lost with the process.
//!
//! Every method takes one lock, does all or nothing, and never waits. A simulated crash
//! drops the engine and keeps the `Arc` of the store, so that only the committed rows survive.

mod alarms;
mod list;
mod objects;

use crate::ids::{EngineId, EventId, Ids, RecipeId, ResourceId, SnapshotId, StackId};
use crate::runtime::SystemIds;
use crate::store::{
    Batch, CommandRow, Content, CreateError, EventQuery, EventRow, Hash, Lease, NewTree, RecipeRow,
    ResourceRow, SealError, Sealer, SnapshotRow, StackQuery, StackRow, Store, StoreError, TreeRows,
};
use crate::time::Time;
use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// Whether a batch is refused.
type Refusal = fn(&Batch) -> bool;

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Mutex<Tables>,
    commits: watch::Sender<u64>,
    failing: AtomicBool,
    refused: Mutex<Option<Refusal>>,
    objects: Mutex<objects::ObjectTable>,
    watched: Mutex<alarms::AlarmTables>,
}

#[derive(Debug, Default)]
struct Tables {
    trees: BTreeMap<StackId, Tree>,
    contents: BTreeMap<Hash, Arc<[u8]>>,
    /// Live root stacks by project and name.
    names: BTreeMap<Name, StackId>,
    // The tree of each row.
    stacks: BTreeMap<StackId, StackId>,
    recipes: BTreeMap<RecipeId, StackId>,
    events: BTreeMap<EventId, StackId>,
    snapshots: BTreeMap<SnapshotId, StackId>,
    /// What was sealed, with its purpose, by what stands in for the encrypted bytes.
    sealed: BTreeMap<[u8; 16], (Vec<u8>, Vec<u8>)>,
}

/// A project and a name in it.
type Name = (Arc<str>, Arc<str>);

#[derive(Debug, Default)]
struct Tree {
    /// The name that no other root stack of the project may have while this one is live.
    name: Option<Name>,
    engine: Option<EngineId>,
    fence: u64,
    /// When the lease runs out; without an owner, since when the tree has none.
    until: Time,
    has_work: bool,
    last_event: u64,
    stacks: BTreeMap<StackId, StackRow>,
    recipes: BTreeMap<RecipeId, RecipeRow>,
    resources: BTreeMap<ResourceId, ResourceRow>,
    events: BTreeMap<EventId, EventRow>,
    snapshots: BTreeMap<SnapshotId, SnapshotRow>,
    commands: Vec<CommandRow>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// How many transactions were made durable.
    pub fn commits(&self) -> u64 {
        *self.commits.borrow()
    }

    /// The same number, for tasks that wait until it grows.
    pub fn watch_commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// While this is set, every method answers that the store is not available.
    pub fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }

    /// Refuses the batches of which this is true, as a database refuses what is too large for it.
    pub fn set_refused(&self, refused: Option<Refusal>) {
        *self.refused.lock() = refused;
    }

    fn open(&self) -> Result<MutexGuard<'_, Tables>, StoreError> {
        if self.failing.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("it was told to fail".into()));
        }
        Ok(self.kept.lock())
    }

    /// Counts a transaction, if it changed something.
    fn durable(&self, changed: bool) {
        self.commits.send_modify(|count| *count += u64::from(changed));
    }
}

impl Tree {
    fn claimable(&self, now: Time) -> bool {
        self.engine.is_none() || self.until < now
    }

    fn take(&mut self, root: StackId, engine: EngineId, until: Time) -> Lease {
        self.engine = Some(engine);
        self.fence += 1;
        self.until = until;
        Lease { root, engine, fence: self.fence, until }
    }

    fn owned_by(&self, engine: EngineId, fence: u64) -> bool {
        self.engine == Some(engine) && self.fence == fence
    }

    /// The snapshots of a query, the oldest first.
    fn snapshots_of(&self, is_wanted: impl Fn(&SnapshotRow) -> bool) -> Vec<SnapshotRow> {
        let mut rows: Vec<_> =
            self.snapshots.values().filter(|row| is_wanted(row)).cloned().collect();
        rows.sort_by_key(|row| (row.created, row.id));
        rows
    }

    /// The resources of some stacks, by stack, in the order they were added.
    fn resources_of(&self, stacks: impl Iterator<Item = StackId>) -> Vec<ResourceRow> {
        let place: BTreeMap<StackId, usize> = stacks.zip(0..).collect();
        let mut rows: Vec<_> =
            self.resources.values().filter(|row| place.contains_key(&row.stack)).collect();
        rows.sort_by_key(|row| (place.get(&row.stack), row.number, row.id));
        rows.into_iter().cloned().collect()
    }
}

impl Tables {
    /// Adds a command to a tree's queue; returns whether the tree exists.
    fn submit(&mut self, command: CommandRow) -> bool {
        let Some(tree) = self.trees.get_mut(&command.root) else { return false };
        if tree.engine.is_none() && !tree.has_work {
            tree.until = command.time;
        }
        tree.has_work = true;
        if tree.commands.iter().all(|other| other.id != command.id) {
            tree.commands.push(command);
        }
        true
    }

    fn tree_of_stack(&self, id: StackId) -> Option<&Tree> {
        self.trees.get(self.stacks.get(&id)?)
    }

    fn stack(&self, id: StackId) -> Option<&StackRow> {
        self.tree_of_stack(id)?.stacks.get(&id)
    }

    fn event(&self, id: EventId) -> Option<&EventRow> {
        self.trees.get(self.events.get(&id)?)?.events.get(&id)
    }

    fn add_contents(&mut self, contents: &[Content]) {
        for content in contents {
            self.contents.entry(content.hash).or_insert_with(|| content.bytes.clone());
        }
    }

    fn write(&mut self, batch: &Batch) -> bool {
        let Some(tree) = self.trees.get_mut(&batch.root) else { return false };
        if tree.engine.is_none() || tree.fence != batch.fence {
            return false;
        }
        for row in &batch.recipes {
            self.recipes.insert(row.id, batch.root);
            tree.recipes.insert(row.id, row.clone());
        }
        for row in &batch.stacks {
            if row.id == batch.root && row.summary.deleted.is_some() {
                tree.name.take().map(|name| self.names.remove(&name));
            }
            self.stacks.insert(row.id, batch.root);
            tree.stacks.insert(row.id, row.clone());
        }
        for row in &batch.resources {
            tree.resources.insert(row.id, row.clone());
        }
        for row in &batch.snapshots {
            self.snapshots.insert(row.id, batch.root);
            tree.snapshots.insert(row.id, row.clone());
        }
        for row in &batch.events {
            self.events.insert(row.id, batch.root);
            tree.last_event = tree.last_event.max(row.number);
            tree.events.insert(row.id, row.clone());
        }
        for id in &batch.dropped_recipes {
            self.recipes.remove(id);
            tree.recipes.remove(id);
        }
        for id in &batch.dropped_resources {
            tree.resources.remove(id);
        }
        for id in &batch.dropped_snapshots {
            self.snapshots.remove(id);
            tree.snapshots.remove(id);
        }
        let done: BTreeSet<_> = batch.done.iter().collect();
        tree.commands.retain(|command| !done.contains(&command.id));
        tree.has_work = batch.has_work || !tree.commands.is_empty();
        self.add_contents(&batch.contents);
        true
    }

    fn drop_events(&mut self, ids: &[EventId]) {
        for id in ids {
            let root = self.events.remove(id);
            if let Some(tree) = root.and_then(|root| self.trees.get_mut(&root)) {
                tree.events.remove(id);
            }
        }
    }

    fn remove_tree(&mut self, root: StackId) {
        let Some(tree) = self.trees.remove(&root) else { return };
        for id in tree.stacks.keys() {
            self.stacks.remove(id);
        }
        for id in tree.recipes.keys() {
            self.recipes.remove(id);
        }
        for id in tree.events.keys() {
            self.events.remove(id);
        }
        for id in tree.snapshots.keys() {
            self.snapshots.remove(id);
        }
    }

    /// Drops texts that no recipe names; returns whether there were any.
    fn drop_unused_contents(&mut self) -> bool {
        let before = self.contents.len();
        let recipes = self.trees.values().flat_map(|tree| tree.recipes.values());
        let used: BTreeSet<Hash> = recipes.flat_map(|row| row.contents.iter().copied()).collect();
        self.contents.retain(|hash, _| used.contains(hash));
        self.contents.len() < before
    }
}

impl Sealer for MemoryStore {
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        let key = SystemIds::default().next().into_bytes();
        self.open()?.sealed.insert(key, (purpose.to_owned(), bytes.to_owned()));
        Ok(key.to_vec())
    }

    fn open_sealed(&self, purpose: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let tables = self.open().map_err(SealError::Store)?;
        let key = <[u8; 16]>::try_from(sealed).map_err(|_| SealError::Refused)?;
        match tables.sealed.get(&key) {
            None => Err(SealError::UnknownKey("of another process".to_owned())),
            Some((known, bytes)) if known == purpose => Ok(bytes.clone()),
            Some(_) => Err(SealError::Refused),
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn create_tree(&self, new: NewTree) -> Result<(), CreateError> {
        let mut kept = self.open()?;
        let root = new.stack.id;
        let name = (new.stack.project.clone(), new.stack.summary.name.clone());
        if kept.names.contains_key(&name) {
            return Err(CreateError::NameTaken(name.1));
        }
        let of_project = kept.names.keys().filter(|(project, _)| *project == name.0);
        let count = of_project.count() as u64;
        if let Some(limit) = new.max_stacks.filter(|limit| count >= *limit) {
            return Err(CreateError::QuotaExceeded(limit));
        }
        kept.names.insert(name.clone(), root);
        kept.stacks.insert(root, root);
        kept.recipes.insert(new.recipe.id, root);
        kept.events.extend(new.events.iter().map(|event| (event.id, root)));
        kept.add_contents(&new.contents);
        let tree = Tree {
            name: Some(name),
            engine: new.owner.map(|owner| owner.0),
            fence: u64::from(new.owner.is_some()),
            until: new.owner.map_or(new.stack.summary.created, |owner| owner.1),
            has_work: true,
            last_event: new.events.iter().map(|event| event.number).max().unwrap_or(0),
            stacks: [(root, new.stack)].into(),
            recipes: [(new.recipe.id, new.recipe)].into(),
            events: new.events.into_iter().map(|event| (event.id, event)).collect(),
            ..Tree::default()
        };
        kept.trees.insert(root, tree);
        self.durable(true);
        Ok(())
    }

    async fn time(&self) -> Result<Time, StoreError> {
        Ok(crate::runtime::machine_time())
    }

    async fn claim(
        &self,
        engine: EngineId,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Result<Vec<Lease>, StoreError> {
        let mut kept = self.open()?;
        let mut free: Vec<(Time, StackId)> = kept
            .trees
            .iter()
            .filter(|(_, tree)| tree.has_work && tree.claimable(now))
            .map(|(root, tree)| (tree.until, *root))
            .collect();
        free.sort();
        free.truncate(limit);
        let taken: Vec<Lease> = free
            .into_iter()
            .filter_map(|(_, root)| Some(kept.trees.get_mut(&root)?.take(root, engine, until)))
            .collect();
        self.durable(!taken.is_empty());
        Ok(taken)
    }

    async fn claim_tree(
        &self,
        engine: EngineId,
        root: StackId,
        now: Time,
        until: Time,
    ) -> Result<Option<Lease>, StoreError> {
        let mut kept = self.open()?;
        let tree = kept.trees.get_mut(&root);
        let tree = tree.filter(|tree| tree.engine == Some(engine) || tree.claimable(now));
        let lease = tree.map(|tree| tree.take(root, engine, until));
        self.durable(lease.is_some());
        Ok(lease)
    }

    async fn renew(&self, engine: EngineId, until: Time) -> Result<Vec<Lease>, StoreError> {
        let mut kept = self.open()?;
        let mut leases = Vec::new();
        for (root, tree) in &mut kept.trees {
            if tree.engine == Some(engine) {
                tree.until = until;
                leases.push(Lease { root: *root, engine, fence: tree.fence, until });
            }
        }
        self.durable(!leases.is_empty());
        Ok(leases)
    }

    async fn owned_trees(&self) -> Result<Vec<(EngineId, u64)>, StoreError> {
        let mut owned = BTreeMap::new();
        for tree in self.open()?.trees.values().filter(|tree| tree.has_work) {
            if let Some(engine) = tree.engine {
                *owned.entry(engine).or_default() += 1;
            }
        }
        Ok(owned.into_iter().collect())
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let mut kept = self.open()?;
        let tree = kept.trees.get_mut(&lease.root);
        if let Some(tree) = tree.filter(|tree| tree.owned_by(lease.engine, lease.fence)) {
            tree.engine = None;
            self.durable(true);
        }
        Ok(())
    }

    async fn commit(&self, batches: &[Batch]) -> Result<Vec<bool>, StoreError> {
        let refused = *self.refused.lock();
        if refused.is_some_and(|is_refused| batches.iter().any(is_refused)) {
            return Err(StoreError::Refused("it was told to refuse this".into()));
        }
        let mut kept = self.open()?;
        let written: Vec<bool> = batches.iter().map(|batch| kept.write(batch)).collect();
        self.durable(written.contains(&true));
        Ok(written)
    }

    async fn submit(&self, command: CommandRow) -> Result<(), StoreError> {
        let is_taken = self.open()?.submit(command);
        self.durable(is_taken);
        Ok(())
    }

    async fn load_tree(&self, root: StackId) -> Result<Option<TreeRows>, StoreError> {
        let kept = self.open()?;
        let Some(tree) = kept.trees.get(&root) else { return Ok(None) };
        let live = tree
            .stacks
            .values()
            .filter(|stack| stack.id == root || stack.summary.deleted.is_none());
        let stacks = parents_first(live.cloned().collect());
        let snapshots = tree.snapshots_of(|_| true);
        let copied = snapshots.iter().map(|snapshot| StackId(snapshot.id.0));
        let resources = tree.resources_of(stacks.iter().map(|stack| stack.id).chain(copied));
        let named: BTreeSet<RecipeId> = stacks
            .iter()
            .flat_map(|stack| [Some(stack.recipe), stack.previous])
            .flatten()
            .collect();
        let recipes = named.iter().filter_map(|id| tree.recipes.get(id)).cloned().collect();
        let commands = tree.commands.clone();
        let last_event = tree.last_event;
        Ok(Some(TreeRows { stacks, resources, snapshots, recipes, commands, last_event }))
    }

    async fn tree_bytes(&self, root: StackId) -> Result<u64, StoreError> {
        let kept = self.open()?;
        let Some(tree) = kept.trees.get(&root) else { return Ok(0) };
        let resources = tree.resources.values().map(|row| row.body.len());
        let snapshots = tree.snapshots.values().map(|row| row.body.len());
        Ok(resources.chain(snapshots).sum::<usize>() as u64)
    }

    async fn commands(&self, root: StackId) -> Result<Vec<CommandRow>, StoreError> {
        Ok(self.open()?.trees.get(&root).map_or_else(Vec::new, |tree| tree.commands.clone()))
    }

    async fn commands_for(&self, engine: EngineId) -> Result<Vec<CommandRow>, StoreError> {
        let kept = self.open()?;
        let trees = kept.trees.values().filter(|tree| tree.engine == Some(engine));
        Ok(trees.flat_map(|tree| tree.commands.iter().cloned()).collect())
    }

    async fn recipe(&self, id: RecipeId) -> Result<Option<RecipeRow>, StoreError> {
        let kept = self.open()?;
        let tree = kept.recipes.get(&id).and_then(|root| kept.trees.get(root));
        Ok(tree.and_then(|tree| tree.recipes.get(&id)).cloned())
    }

    async fn content(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        Ok(self.open()?.contents.get(&hash).cloned())
    }

    async fn stack(&self, id: StackId) -> Result<Option<StackRow>, StoreError> {
        Ok(self.open()?.stack(id).cloned())
    }

    async fn stack_by_name(
        &self,
        project: &str,
        name: &str,
    ) -> Result<Option<StackRow>, StoreError> {
        let kept = self.open()?;
        let id = kept.names.get(&(project.into(), name.into()));
        Ok(id.and_then(|id| kept.stack(*id)).cloned())
    }

    async fn stacks(&self, query: &StackQuery) -> Result<Vec<StackRow>, StoreError> {
        let kept = self.open()?;
        let marker = query.marker.and_then(|id| kept.stack(id));
        let all = kept.trees.values().flat_map(|tree| tree.stacks.values());
        let mut stacks = list::stacks(query, marker, all);
        if !query.with_bodies {
            stacks.iter_mut().for_each(|stack| stack.body.clear());
        }
        Ok(stacks)
    }

    async fn count_stacks(&self, query: &StackQuery) -> Result<u64, StoreError> {
        let kept = self.open()?;
        let all = kept.trees.values().flat_map(|tree| tree.stacks.values());
        Ok(all.filter(|stack| list::asks_for_stack(query, stack)).count() as u64)
    }

    async fn resources(&self, stacks: &[StackId]) -> Result<Vec<ResourceRow>, StoreError> {
        let kept = self.open()?;
        let of_stack = |stack: &StackId| -> Vec<ResourceRow> {
            let rows = |tree: &Tree| tree.resources_of(std::iter::once(*stack));
            match kept.tree_of_stack(*stack) {
                Some(tree) => rows(tree),
                // The rows of signals and copies name a resource or a snapshot in place of a stack.
                None => kept.trees.values().flat_map(rows).collect(),
            }
        };
        Ok(stacks.iter().flat_map(of_stack).collect())
    }

    async fn snapshots(&self, stack: StackId) -> Result<Vec<SnapshotRow>, StoreError> {
        let kept = self.open()?;
        let tree = kept.tree_of_stack(stack);
        let of_stack = |row: &SnapshotRow| row.stack == stack;
        let mut snapshots = tree.map_or_else(Vec::new, |tree| tree.snapshots_of(of_stack));
        snapshots.iter_mut().for_each(|snapshot| snapshot.body.clear());
        Ok(snapshots)
    }

    async fn snapshot(&self, id: SnapshotId) -> Result<Option<SnapshotRow>, StoreError> {
        let kept = self.open()?;
        let tree = kept.snapshots.get(&id).and_then(|root| kept.trees.get(root));
        Ok(tree.and_then(|tree| tree.snapshots.get(&id)).cloned())
    }

    async fn events(&self, query: &EventQuery) -> Result<Vec<EventRow>, StoreError> {
        let kept = self.open()?;
        let marker = query.marker.and_then(|id| kept.event(id));
        let roots: BTreeSet<_> = query.stacks.iter().filter_map(|id| kept.stacks.get(id)).collect();
        let trees = roots.into_iter().filter_map(|root| kept.trees.get(root));
        let mut events = list::events(query, marker, trees.flat_map(|tree| tree.events.values()));
        events.iter_mut().for_each(|event| event.body.clear());
        Ok(events)
    }

    async fn event(&self, id: EventId) -> Result<Option<EventRow>, StoreError> {
        Ok(self.open()?.event(id).cloned())
    }

    async fn prune_events(&self, keep: u64, limit: u64) -> Result<u64, StoreError> {
        let mut kept = self.open()?;
        let mut by_stack: BTreeMap<StackId, Vec<(u64, EventId)>> = BTreeMap::new();
        for event in kept.trees.values().flat_map(|tree| tree.events.values()) {
            by_stack.entry(event.stack).or_default().push((event.number, event.id));
        }
        let oldest = by_stack.into_values().flat_map(|mut events| {
            events.sort();
            let surplus = (events.len() as u64).saturating_sub(keep);
            events.into_iter().take(usize::try_from(surplus).unwrap_or(usize::MAX))
        });
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let dropped: Vec<EventId> = oldest.take(limit).map(|(_, id)| id).collect();
        kept.drop_events(&dropped);
        self.durable(!dropped.is_empty());
        Ok(dropped.len() as u64)
    }

    async fn prune_event_bytes(&self, keep: u64, limit: u64) -> Result<u64, StoreError> {
        let mut kept = self.open()?;
        let surplus = kept.trees.values().flat_map(|tree| {
            let mut events: Vec<&EventRow> = tree.events.values().collect();
            events.sort_by_key(|event| std::cmp::Reverse((event.number, event.id)));
            let mut bytes = 0;
            let is_kept = move |event: &&EventRow| {
                bytes += event.byte_size();
                bytes <= keep
            };
            let surplus = events.into_iter().skip_while(is_kept).map(|event| event.id);
            surplus.collect::<Vec<_>>().into_iter().rev()
        });
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let dropped: Vec<EventId> = surplus.take(limit).collect();
        kept.drop_events(&dropped);
        self.durable(!dropped.is_empty());
        Ok(dropped.len() as u64)
    }

    async fn purge(
        &self,
        deleted_before: Time,
        project: Option<&str>,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let mut kept = self.open()?;
        let mut dead: Vec<(Time, StackId)> = kept
            .trees
            .iter()
            .filter_map(|(root, tree)| tree.stacks.get(root))
            .filter(|root| project.is_none_or(|project| *root.project == *project))
            .filter_map(|root| Some((root.summary.deleted?, root.id)))
            .filter(|(deleted, _)| *deleted < deleted_before)
            .collect();
        dead.sort();
        dead.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        for (_, root) in &dead {
            kept.remove_tree(*root);
        }
        let unused = kept.drop_unused_contents();
        self.durable(unused || !dead.is_empty());
        Ok(dead.len() as u64)
    }
}

/// Sorts the stacks of a tree: the root first, every stack after its parent, siblings by creation.
pub fn parents_first(mut stacks: Vec<StackRow>) -> Vec<StackRow> {
    stacks.sort_by_key(|stack| (stack.summary.created, stack.id));
    let known: BTreeSet<StackId> = stacks.iter().map(|stack| stack.id).collect();
    let mut children: BTreeMap<Option<StackId>, Vec<StackRow>> = BTreeMap::new();
    for stack in stacks {
        let parent = stack.parent.filter(|parent| known.contains(parent));
        // The root comes before stacks whose parents no longer exist.
        let siblings = children.entry(parent).or_default();
        let at = if stack.parent.is_none() { 0 } else { siblings.len() };
        siblings.insert(at, stack);
    }
    let mut sorted = children.remove(&None).unwrap_or_default();
    let mut next = 0;
    while let Some(stack) = sorted.get(next) {
        sorted.extend(children.remove(&Some(stack.id)).unwrap_or_default());
        next += 1;
    }
    sorted
}
