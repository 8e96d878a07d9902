//! A store that counts how often it is read.

use async_trait::async_trait;
use kiln_engine::alarms::*;
use kiln_engine::store::*;
use kiln_engine::*;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;
use uuid::Uuid;

/// The reads of an event stream.
const STREAM_READS: [&str; 5] = ["event", "events", "stack", "stack_by_name", "stacks"];

/// A store in memory that counts the reads that event streams make, and those that look for changes.
#[derive(Default)]
pub(crate) struct CountingStore {
    store: MemoryStore,
    stream_reads: AtomicU64,
    polls: watch::Sender<u64>,
    largest_read: AtomicU64,
    resource_rows: AtomicU64,
}

/// The rows of resources, and of their signals, that the store returned.
fn resource_rows(list: &dyn Any) -> usize {
    type Page = Result<(Vec<ResourceRow>, u64), StoreError>;
    let page = list.downcast_ref::<Page>().and_then(|it| it.as_ref().ok());
    let rows = list.downcast_ref::<Result<Vec<ResourceRow>, StoreError>>();
    let rows = rows.and_then(|it| it.as_ref().ok());
    let tree = list.downcast_ref::<Result<Option<TreeRows>, StoreError>>();
    let tree = tree.and_then(|it| it.as_ref().ok()?.as_ref());
    page.map_or(0, |it| it.0.len())
        + rows.map_or(0, Vec::len)
        + tree.map_or(0, |it| it.resources.len())
}

/// The bytes of the bodies in a list or a tree that the store returned.
fn body_bytes(list: &dyn Any) -> usize {
    fn sum<T: 'static>(list: &dyn Any, body: impl Fn(&T) -> usize) -> usize {
        let list = list.downcast_ref::<Result<Vec<T>, StoreError>>();
        list.and_then(|it| it.as_ref().ok()).into_iter().flatten().map(body).sum()
    }
    let software = |row: &ObjectRow| match row.kind {
        ObjectKind::Config | ObjectKind::Deployment => row.body.len(),
        _ => 0,
    };
    let bytes = |rows: &[ResourceRow]| rows.iter().map(|row| row.body.len()).sum::<usize>();
    if let Some(Ok((rows, _))) = list.downcast_ref::<Result<(Vec<ResourceRow>, u64), StoreError>>()
    {
        return bytes(rows);
    }
    if let Some(Ok(Some(tree))) = list.downcast_ref::<Result<Option<TreeRows>, StoreError>>() {
        return bytes(&tree.resources);
    }
    sum(list, software)
        + sum(list, |row: &StackRow| row.body.len())
        + sum(list, |row: &EventRow| row.body.len())
        + sum(list, |row: &SnapshotRow| row.body.len())
}

impl CountingStore {
    /// The number of reads of stacks and events so far.
    pub(crate) fn stream_reads(&self) -> u64 {
        self.stream_reads.load(Ordering::SeqCst)
    }

    /// How often the store was polled for changes.
    pub(crate) fn polls(&self) -> u64 {
        *self.polls.borrow()
    }

    /// Waits until the store was polled so often.
    pub(crate) async fn wait_for_polls(&self, count: u64) {
        let mut polls = self.polls.subscribe();
        polls.wait_for(|polls| *polls >= count).await.expect("the store is there");
    }

    /// The largest number of bytes in the bodies of one list, since it was reset.
    pub(crate) fn largest_read(&self) -> u64 {
        self.largest_read.load(Ordering::SeqCst)
    }

    /// How many rows of resources were read.
    pub(crate) fn resource_rows(&self) -> u64 {
        self.resource_rows.load(Ordering::SeqCst)
    }

    /// Forgets the largest list.
    pub(crate) fn reset_largest_read(&self) {
        self.largest_read.store(0, Ordering::SeqCst);
    }

    fn count(&self, name: &str) {
        if STREAM_READS.contains(&name) {
            self.stream_reads.fetch_add(1, Ordering::SeqCst);
        }
        if name == "last_events" {
            self.polls.send_modify(|polls| *polls += 1);
        }
    }
}

/// Implements a part of the store by the store in memory.
macro_rules! forward {
    ($trait:ident { $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)* }) => {
        #[async_trait]
        impl $trait for CountingStore {
            $(async fn $name(&self, $($argument: $type),*) -> $result {
                self.count(stringify!($name));
                let result = $trait::$name(&self.store, $($argument),*).await;
                self.largest_read.fetch_max(body_bytes(&result) as u64, Ordering::SeqCst);
                self.resource_rows.fetch_add(resource_rows(&result) as u64, Ordering::SeqCst);
                result
            })*
        }
    };
}

forward!(Objects {
    put_object(object: ObjectRow) -> Result<(), StoreError>;
    add_object(object: ObjectRow) -> Result<bool, StoreError>;
    put_object_within(object: ObjectRow, limit: u64) -> Result<bool, StoreError>;
    drop_object(kind: ObjectKind, id: Uuid) -> Result<bool, StoreError>;
    drop_objects(kind: ObjectKind, before: Time, limit: u64) -> Result<u64, StoreError>;
    object(kind: ObjectKind, id: Uuid) -> Result<Option<ObjectRow>, StoreError>;
    objects_by_id(kind: ObjectKind, ids: &[Uuid]) -> Result<Vec<ObjectRow>, StoreError>;
    objects(query: &ObjectQuery) -> Result<Vec<ObjectRow>, StoreError>;
    deployed_on(servers: &[Arc<str>]) -> Result<Vec<(Arc<str>, Uuid, Option<Uuid>)>, StoreError>;
    count_objects(query: &ObjectQuery) -> Result<u64, StoreError>;
});

forward!(Alarms {
    write_alarms(changes: &[AlarmChange]) -> Result<Vec<bool>, StoreError>;
    alarm(id: Uuid) -> Result<Option<AlarmRow>, StoreError>;
    alarms(query: &AlarmQuery) -> Result<Vec<AlarmRow>, StoreError>;
    count_alarms(project: &str) -> Result<u64, StoreError>;
    due_alarms(now: Time, limit: u64) -> Result<Vec<AlarmRow>, StoreError>;
    reset_alarms(now: Time) -> Result<(), StoreError>;
    alarm_history(query: &HistoryQuery) -> Result<Vec<AlarmEvent>, StoreError>;
    add_alarm_events(events: &[AlarmEvent]) -> Result<(), StoreError>;
    add_samples(series: &[SeriesRow], buckets: &[Bucket]) -> Result<(), StoreError>;
    series(query: &SeriesQuery) -> Result<Vec<SeriesRow>, StoreError>;
    samples(series: &[Uuid], from: Time, until: Time) -> Result<Vec<Bucket>, StoreError>;
    prune_metrics(samples: Time, history: Time, limit: u64) -> Result<u64, StoreError>;
});

impl Sealer for CountingStore {
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.store.seal(purpose, bytes)
    }

    fn open_sealed(&self, purpose: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        self.store.open_sealed(purpose, sealed)
    }
}

forward!(Store {
    time() -> Result<Time, StoreError>;
    create_tree(tree: NewTree) -> Result<(), CreateError>;
    claim(engine: EngineId, now: Time, until: Time, limit: usize) -> Result<Vec<Lease>, StoreError>;
    owned_trees() -> Result<Vec<(EngineId, u64)>, StoreError>;
    claim_tree(engine: EngineId, root: StackId, now: Time, until: Time) -> Result<Option<Lease>, StoreError>;
    renew(engine: EngineId, until: Time) -> Result<Vec<Lease>, StoreError>;
    release(lease: Lease) -> Result<(), StoreError>;
    commit(batches: &[Batch]) -> Result<Vec<bool>, StoreError>;
    submit(command: CommandRow) -> Result<(), StoreError>;
    load_tree(root: StackId) -> Result<Option<TreeRows>, StoreError>;
    tree_bytes(root: StackId) -> Result<u64, StoreError>;
    load_stacks(root: StackId) -> Result<Option<TreeRows>, StoreError>;
    resources_named(root: StackId, names: &[Arc<str>]) -> Result<(Vec<ResourceRow>, u64), StoreError>;
    lean_resources(root: StackId) -> Result<(Vec<ResourceRow>, u64), StoreError>;
    last_events(roots: &[StackId]) -> Result<Vec<(StackId, u64)>, StoreError>;
    commands(root: StackId) -> Result<Vec<CommandRow>, StoreError>;
    commands_for(engine: EngineId) -> Result<Vec<CommandRow>, StoreError>;
    recipe(id: RecipeId) -> Result<Option<RecipeRow>, StoreError>;
    content(hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError>;
    stack(id: StackId) -> Result<Option<StackRow>, StoreError>;
    stack_by_name(project: &str, name: &str) -> Result<Option<StackRow>, StoreError>;
    stacks(query: &StackQuery) -> Result<Vec<StackRow>, StoreError>;
    count_stacks(query: &StackQuery) -> Result<u64, StoreError>;
    resources(stacks: &[StackId]) -> Result<Vec<ResourceRow>, StoreError>;
    snapshots(stack: StackId) -> Result<Vec<SnapshotRow>, StoreError>;
    snapshot(id: SnapshotId) -> Result<Option<SnapshotRow>, StoreError>;
    events(query: &EventQuery) -> Result<Vec<EventRow>, StoreError>;
    event(id: EventId) -> Result<Option<EventRow>, StoreError>;
    prune_events(keep: u64, limit: u64) -> Result<u64, StoreError>;
    prune_event_bytes(keep: u64, limit: u64) -> Result<u64, StoreError>;
    purge(deleted_before: Time, project: Option<&str>, limit: u64) -> Result<u64, StoreError>;
});
