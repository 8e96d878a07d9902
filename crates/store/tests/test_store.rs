//! What the cases are made of: a store, a second view of it, and rows.

use kiln_engine::store::{
    Batch, CommandRow, Content, EventRow, Hash, Lease, NewTree, RecipeRow, ResourceRow,
    SnapshotRow, StackQuery, StackRow, Store, StoreError,
};
use kiln_engine::{
    Action, CommandId, EngineId, EventId, PhysicalId, RecipeId, ResourceId, ResourceSummary,
    SnapshotId, StackId, StackSummary, State, Status, Time,
};
use kiln_store::SqlStore;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// Where a case can have a store in a database.
pub(crate) struct TestDatabase {
    pub(crate) url: String,
    /// Where another process finds the same database, if that is another node of a cluster.
    pub(crate) other_url: Option<String>,
    pub(crate) keys: PathBuf,
}

impl TestDatabase {
    pub(crate) async fn open(&self) -> SqlStore {
        SqlStore::open(&self.url, &self.keys).await.unwrap()
    }

    /// How many bytes the files of a SQLite database have.
    pub(crate) fn bytes(&self) -> u64 {
        let file = self.url.trim_start_matches("sqlite://");
        let files = ["", "-wal"].map(|end| std::fs::metadata(format!("{file}{end}")));
        files.into_iter().flatten().map(|file| file.len()).sum()
    }

    pub(crate) async fn test_store(self) -> TestStore {
        let store = Arc::new(self.open().await);
        let other = SqlStore::open(self.other_url.as_ref().unwrap_or(&self.url), &self.keys).await;
        TestStore::new(store, Arc::new(other.unwrap()))
    }
}

/// A store, and the same store as another process sees it.
pub(crate) struct TestStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) other: Arc<dyn Store>,
    next: AtomicU64,
}

pub(crate) const IN_PROGRESS: State = State::new(Action::Create, Status::InProgress);
pub(crate) const COMPLETE: State = State::new(Action::Create, Status::Complete);
/// When nobody's lease is to run out.
pub(crate) const LONG: Time = at(1_000_000);

/// A moment, in seconds.
pub(crate) const fn at(seconds: i64) -> Time {
    Time::from_micros(seconds * 1_000_000)
}

impl TestStore {
    pub(crate) fn new(store: Arc<dyn Store>, other: Arc<dyn Store>) -> TestStore {
        TestStore { store, other, next: AtomicU64::new(1) }
    }

    /// An id that looks random and is the same in every run.
    pub(crate) fn id(&self) -> Uuid {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Uuid::from_u64_pair(scatter(number), scatter(number ^ 0xabcd_ef01))
    }

    pub(crate) fn engine(&self) -> EngineId {
        EngineId(self.id())
    }

    /// A tree with one stack, which nobody owns.
    pub(crate) fn tree(&self, project: &str, name: &str) -> NewTree {
        let id = StackId(self.id());
        let contents = vec![text(&format!("the template of {name}"))];
        let recipe = RecipeRow {
            id: RecipeId(self.id()),
            root: id,
            contents: contents.iter().map(|content| content.hash).collect(),
            body: b"parameters".to_vec(),
        };
        let stack = self.stack(project, name, id, None, recipe.id);
        NewTree { stack, recipe, contents, events: Vec::new(), owner: None, max_stacks: None }
    }

    pub(crate) fn stack(
        &self,
        project: &str,
        name: &str,
        id: StackId,
        parent: Option<&StackRow>,
        recipe: RecipeId,
    ) -> StackRow {
        StackRow {
            id,
            root: parent.map_or(id, |parent| parent.root),
            parent: parent.map(|parent| parent.id),
            project: project.into(),
            user_name: "demo".into(),
            summary: StackSummary {
                reason: "Stack CREATE started".into(),
                ..StackSummary::new(name.into(), IN_PROGRESS, at(1000))
            },
            recipe,
            previous: None,
            body: format!("the body of {name}").into_bytes(),
        }
    }

    /// A stack nested in another.
    pub(crate) fn nested(&self, parent: &StackRow, name: &str) -> StackRow {
        self.stack(&parent.project, name, StackId(self.id()), Some(parent), parent.recipe)
    }

    pub(crate) fn resource(&self, stack: &StackRow, number: u64) -> ResourceRow {
        ResourceRow {
            id: ResourceId(self.id()),
            stack: stack.id,
            root: stack.root,
            number,
            summary: ResourceSummary {
                name: format!("r{number}").into(),
                type_name: "OS::Heat::Value".into(),
                state: COMPLETE,
                reason: "state changed".into(),
                physical_id: Some(PhysicalId::new(format!("physical-{number}"))),
                created: at(1001),
                updated: at(1002),
            },
            body: format!("properties of {number}").into_bytes(),
        }
    }

    pub(crate) fn event(&self, stack: &StackRow, number: u64) -> EventRow {
        EventRow {
            id: EventId(self.id()),
            stack: stack.id,
            root: stack.root,
            number,
            time: at(1003),
            resource: format!("r{number}").into(),
            kind: "OS::Heat::Value".into(),
            physical_id: "".into(),
            state: IN_PROGRESS,
            reason: "state changed".into(),
            body: Vec::new(),
        }
    }

    pub(crate) fn snapshot(&self, stack: &StackRow, name: &str) -> SnapshotRow {
        SnapshotRow {
            id: SnapshotId(self.id()),
            root: stack.root,
            stack: stack.id,
            project: stack.project.clone(),
            name: Some(name.into()),
            state: IN_PROGRESS,
            reason: "".into(),
            created: at(1005),
            body: format!("the stack as {name}").into_bytes(),
        }
    }

    /// A copy that belongs to a snapshot.
    pub(crate) fn copy(&self, snapshot: &SnapshotRow, number: u64) -> ResourceRow {
        let id = ResourceId(self.id());
        let stack = self.stack("p", "s", snapshot.root, None, RecipeId(self.id()));
        ResourceRow { id, stack: StackId(snapshot.id.0), ..self.resource(&stack, number) }
    }

    pub(crate) fn command(&self, root: StackId) -> CommandRow {
        let id = CommandId(self.id());
        CommandRow { id, root, time: at(1004), body: b"delete".to_vec() }
    }

    /// Adds a tree that an engine owns.
    pub(crate) async fn owned(&self, project: &str, name: &str) -> (StackRow, Lease) {
        let engine = self.engine();
        let tree = NewTree { owner: Some((engine, LONG)), ..self.tree(project, name) };
        let stack = tree.stack.clone();
        self.store.create_tree(tree).await.unwrap();
        (stack.clone(), Lease { root: stack.id, engine, fence: 1, until: LONG })
    }

    /// Writes a batch that must be accepted.
    pub(crate) async fn write(&self, batch: Batch) {
        assert_eq!(self.store.commit(&[batch]).await.unwrap(), [true]);
    }

    /// Deletes a tree at a moment.
    pub(crate) async fn delete(&self, root: &StackRow, lease: Lease, at: Time) {
        self.write(Batch { stacks: vec![deleted(root, at)], ..batch(lease) }).await;
    }

    /// The names of the stacks that a query gives.
    pub(crate) async fn names(&self, query: &StackQuery) -> Vec<String> {
        let stacks = self.store.stacks(query).await.unwrap();
        assert_eq!(
            self.store
                .count_stacks(&StackQuery { marker: None, limit: Some(1), ..query.clone() })
                .await
                .unwrap()
                > 0,
            !self
                .store
                .stacks(&StackQuery { marker: None, limit: Some(1), ..query.clone() })
                .await
                .unwrap()
                .is_empty()
        );
        stacks.iter().map(|stack| stack.summary.name.to_string()).collect()
    }
}

/// An empty batch of a lease's owner.
pub(crate) fn batch(lease: Lease) -> Batch {
    Batch {
        root: lease.root,
        fence: lease.fence,
        contents: Vec::new(),
        recipes: Vec::new(),
        dropped_recipes: Vec::new(),
        stacks: Vec::new(),
        resources: Vec::new(),
        dropped_resources: Vec::new(),
        snapshots: Vec::new(),
        dropped_snapshots: Vec::new(),
        events: Vec::new(),
        done: Vec::new(),
        has_work: true,
    }
}

pub(crate) fn text(text: &str) -> Content {
    Content { hash: Hash::of(text.as_bytes()), bytes: text.as_bytes().into() }
}

/// What is damaged, and why.
pub(crate) fn damage<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> (String, String) {
    match outcome {
        Err(StoreError::Damaged { what, why }) => (what, why),
        other => panic!("expected damage, got {other:?}"),
    }
}

/// Spreads numbers over their range (splitmix64).
pub(crate) fn scatter(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stack that was deleted at a moment.
pub(crate) fn deleted(stack: &StackRow, at: Time) -> StackRow {
    let mut stack = stack.clone();
    stack.summary.deleted = Some(at);
    stack
}
