//! The store's interface, and the rows that the engine stores.
//!
//! Nothing has happened until it is committed. A *tree* is a root stack with all
//! stacks nested in it; it has one owner at a time, which holds its *lease*. Every lease has a *fence*,
//! a number that grows with each new owner, and a batch whose fence is not the tree's current one
//! changes nothing.
//!
//! Rows have columns for everything that queries select and sort by. The rest is in their bodies, which the
//! store encrypts and never interprets.

use crate::ids::{CommandId, EngineId, EventId, RecipeId, ResourceId, SnapshotId, StackId};
use crate::state::State;
use crate::summary::{ResourceSummary, StackSummary};
use crate::time::Time;
use async_trait::async_trait;
use kiln_template::HiddenTexts;
use std::fmt;
use std::sync::Arc;

/// Stores trees of stacks.
///
/// All methods may be called at the same time. A method that fails has changed nothing.
#[async_trait]
pub trait Store: crate::objects::Objects + crate::alarms::Alarms + Sealer {
    /// The current time by the clock that all engines on this store share.
    async fn time(&self) -> Result<Time, StoreError>;

    // --- trees and their owners ---

    /// Adds a tree: its root stack with its recipe, and an owner if one is named.
    ///
    /// No other live root stack of the project may have the name, and if a limit is named, the project has fewer live root
    /// stacks, however many are added at the same time. A new tree has work to do.
    async fn create_tree(&self, tree: NewTree) -> Result<(), CreateError>;

    /// Takes trees that have work to do and no owner, or one whose lease ran out before `now`; the
    /// longest unattended first, no more than `limit`. Each gets a new fence and a lease `until`, also
    /// if the engine had it before.
    ///
    /// A tree is unattended since its lease ran out; a tree that was released, since the end that its lease
    /// would have had or, if it had no work then, since the first command after that.
    async fn claim(
        &self,
        engine: EngineId,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Result<Vec<Lease>, StoreError>;

    /// Takes one tree, whether it has work or not, unless another engine's lease on it is still valid.
    /// It gets a new fence, also if the engine had it before.
    async fn claim_tree(
        &self,
        engine: EngineId,
        root: StackId,
        now: Time,
        until: Time,
    ) -> Result<Option<Lease>, StoreError>;

    /// Extends all leases of an engine `until` a time; returns the trees that it still owns. A lease that ran out
    /// is valid again, unless another engine has adopted the tree.
    async fn renew(&self, engine: EngineId, until: Time) -> Result<Vec<Lease>, StoreError>;

    /// How many trees with work each engine owns.
    async fn owned_trees(&self) -> Result<Vec<(EngineId, u64)>, StoreError>;

    /// Releases a tree, if the lease is still the current one. No engine can write to the tree until one adopts it
    /// again.
    async fn release(&self, lease: Lease) -> Result<(), StoreError>;

    // --- writing ---

    /// Writes batches in one durable transaction, each as a whole or, if its fence is not the current
    /// one, not at all. Returns for each whether it was written.
    ///
    /// A deleted root sets its name free for ever. A tree with commands in its queue has work to do,
    /// whatever the batch says: a command may have come in the meantime.
    async fn commit(&self, batches: &[Batch]) -> Result<Vec<bool>, StoreError>;

    /// The largest row that the store accepts, roughly; `None` if there is no such limit.
    fn max_row_bytes(&self) -> Option<usize> {
        None
    }

    /// Adds a command to a tree's queue and marks the tree as having work to do. A command that exists
    /// already is left alone; a command for a tree that does not exist is dropped.
    async fn submit(&self, command: CommandRow) -> Result<(), StoreError>;

    // --- reading ---

    /// Reads a whole tree, except for its events and deleted nested stacks.
    async fn load_tree(&self, root: StackId) -> Result<Option<TreeRows>, StoreError>;

    /// How many bytes the bodies of the resources of a tree have, and those of their signals and of the snapshots.
    async fn tree_bytes(&self, root: StackId) -> Result<u64, StoreError>;

    /// Reads a tree without its resources, snapshots and commands. The rows need not belong to one state: every
    /// change of a stack or of its recipe increases `last_event`, which is read first.
    async fn load_stacks(&self, root: StackId) -> Result<Option<TreeRows>, StoreError> {
        let rows = self.load_tree(root).await?;
        Ok(rows.map(|rows| TreeRows {
            stacks: rows.stacks,
            recipes: rows.recipes,
            last_event: rows.last_event,
            ..TreeRows::default()
        }))
    }

    /// The resources of a root stack that have one of these names, in the order they were added, and
    /// then the number of its tree's last event, which is read last.
    async fn resources_named(
        &self,
        root: StackId,
        names: &[Arc<str>],
    ) -> Result<(Vec<ResourceRow>, u64), StoreError> {
        let rows = self.load_tree(root).await?.unwrap_or_default();
        let is_meant = |row: &ResourceRow| row.stack == root && names.contains(&row.summary.name);
        Ok((rows.resources.into_iter().filter(is_meant).collect(), rows.last_event))
    }

    /// The resources of a root stack, in the order they were added, their bodies empty; and the number of
    /// its tree's last event, which is not older.
    async fn lean_resources(&self, root: StackId) -> Result<(Vec<ResourceRow>, u64), StoreError> {
        let rows = self.load_tree(root).await?.unwrap_or_default();
        let of_root = rows.resources.into_iter().filter(|row| row.stack == root);
        let lean = of_root.map(|row| ResourceRow { body: Vec::new(), ..row });
        Ok((lean.collect(), rows.last_event))
    }

    /// The numbers of the last events of trees; trees that do not exist are left out.
    async fn last_events(&self, roots: &[StackId]) -> Result<Vec<(StackId, u64)>, StoreError> {
        let mut last = Vec::new();
        for root in roots {
            last.extend(self.load_stacks(*root).await?.map(|rows| (*root, rows.last_event)));
        }
        Ok(last)
    }

    /// Commands of a tree in the order they came.
    async fn commands(&self, root: StackId) -> Result<Vec<CommandRow>, StoreError>;

    /// The commands that wait for the trees of an engine; those of a tree in the order they came. The process
    /// that accepts a command need not be the owner of the tree.
    async fn commands_for(&self, engine: EngineId) -> Result<Vec<CommandRow>, StoreError>;

    /// A recipe.
    async fn recipe(&self, id: RecipeId) -> Result<Option<RecipeRow>, StoreError>;

    /// A text that is stored under its hash.
    async fn content(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError>;

    /// A stack, deleted or not.
    async fn stack(&self, id: StackId) -> Result<Option<StackRow>, StoreError>;

    /// The oldest live root stack of a name in a project.
    async fn stack_by_name(
        &self,
        project: &str,
        name: &str,
    ) -> Result<Option<StackRow>, StoreError>;

    /// A page of stacks.
    ///
    /// Texts are sorted by their bytes, moments that are missing before all others.
    async fn stacks(&self, query: &StackQuery) -> Result<Vec<StackRow>, StoreError>;

    /// How many stacks there are, whatever the page.
    async fn count_stacks(&self, query: &StackQuery) -> Result<u64, StoreError>;

    /// The resources of stacks, stack by stack, in the order they were added. In place of a stack, a resource may be named, whose
    /// signals are returned, or a snapshot, whose copies are returned.
    async fn resources(&self, stacks: &[StackId]) -> Result<Vec<ResourceRow>, StoreError>;

    /// The snapshots of a stack, the first first, without their bodies.
    async fn snapshots(&self, stack: StackId) -> Result<Vec<SnapshotRow>, StoreError>;

    /// A snapshot.
    async fn snapshot(&self, id: SnapshotId) -> Result<Option<SnapshotRow>, StoreError>;

    /// A page of events, without their bodies.
    async fn events(&self, query: &EventQuery) -> Result<Vec<EventRow>, StoreError>;

    /// An event.
    async fn event(&self, id: EventId) -> Result<Option<EventRow>, StoreError>;

    // --- housekeeping ---

    /// Drops the oldest events of every stack that has more than `keep`; no more than `limit` at once,
    /// stack after stack by their ids.
    /// Returns the number dropped.
    async fn prune_events(&self, keep: u64, limit: u64) -> Result<u64, StoreError>;

    /// Drops the oldest events of every tree whose events have more than `keep` bytes, roughly; no more than `limit` at once.
    /// Returns the number dropped.
    async fn prune_event_bytes(&self, keep: u64, limit: u64) -> Result<u64, StoreError>;

    /// Removes trees whose root was deleted before a moment, with all rows that belong to them alone; no
    /// more than `limit` at once, the first to be deleted first. Returns the number removed.
    ///
    /// Texts that no recipe names any more are dropped as well.
    async fn purge(
        &self,
        deleted_before: Time,
        project: Option<&str>,
        limit: u64,
    ) -> Result<u64, StoreError>;
}

/// Encrypts values that leave the service with the keys of a store.
pub trait Sealer: Send + Sync {
    /// Encrypts bytes. Only a store with the same keys decrypts them, and only for the same purpose.
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError>;

    /// Decrypts bytes that came back.
    fn open_sealed(&self, purpose: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SealError>;
}

/// The error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached, is full, or refuses to work. It may work again later.
    #[error("the store is not available: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store works, and does not accept what was to be written: it is too large, or not what a column holds.
    #[error("the store does not accept what was to be written: {0}")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A record cannot be understood.
    #[error("the store holds {what} that cannot be read: {why}")]
    Damaged {
        /// The kind and the id of the record.
        what: String,
        /// What is wrong with the record.
        why: String,
    },
    /// A record was written by a version of Kiln that came later.
    #[error("the store holds {what} that cannot be read: {why}")]
    Newer {
        /// The kind and the id of the record.
        what: String,
        /// Which version wrote the record.
        why: String,
    },
}

/// Why sealed bytes cannot be decrypted.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// They were sealed with a key that this service does not have.
    #[error("it was sealed with key {0}, which this service does not have")]
    UnknownKey(String),
    /// They were sealed for another purpose, or altered.
    #[error(
        "it belongs to another project or stack or to another place in the document, or it was altered"
    )]
    Refused,
    /// The keys cannot be read.
    #[error(transparent)]
    Store(StoreError),
}

/// The reason why a tree was not added.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// A live stack of that name exists.
    #[error("The Stack ({0}) already exists.")]
    NameTaken(Arc<str>),
    /// The project has as many stacks as it may have.
    #[error("You have reached the maximum stacks per tenant, {0}. Please delete some stacks.")]
    QuotaExceeded(u64),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The hash under which a text is stored: SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of a text.
    pub fn of(bytes: &[u8]) -> Hash {
        use sha2::Digest;
        Hash(sha2::Sha256::digest(bytes).into())
    }

    /// The hash that a text spells in hexadecimal digits.
    pub fn parse(text: &str) -> Option<Hash> {
        let mut hash = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Hash(hash))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The right to write to a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The root stack.
    pub root: StackId,
    /// The engine that has it.
    pub engine: EngineId,
    /// Grows with each new owner.
    pub fence: u64,
    /// When it runs out.
    pub until: Time,
}

/// A tree to be added.
#[derive(Clone, Debug)]
pub struct NewTree {
    /// Its root stack.
    pub stack: StackRow,
    /// Its recipe.
    pub recipe: RecipeRow,
    /// The texts that the recipe names.
    pub contents: Vec<Content>,
    /// The first event.
    pub events: Vec<EventRow>,
    /// The engine that owns it from the start, and until when; its fence is 1.
    pub owner: Option<(EngineId, Time)>,
    /// How many live root stacks the project may have, this one included.
    pub max_stacks: Option<u64>,
}

/// Everything of a tree that an owner needs.
#[derive(Clone, Debug, Default)]
pub struct TreeRows {
    /// Its stacks, deleted nested ones excepted; the root first, every stack after its parent.
    pub stacks: Vec<StackRow>,
    /// Their resources, by stack, in the order they were added; then the copies of the snapshots:
    /// resources whose stack is the snapshot's id.
    pub resources: Vec<ResourceRow>,
    /// The snapshots of its stacks, the first first.
    pub snapshots: Vec<SnapshotRow>,
    /// The recipes that the stacks name.
    pub recipes: Vec<RecipeRow>,
    /// The commands that wait, in the order they came.
    pub commands: Vec<CommandRow>,
    /// The number of the last event, even if it was dropped; 0 if there was none.
    pub last_event: u64,
}

/// The changes of one tree that its owner commits together. An existing row is overwritten; a row that is both
/// written and dropped is dropped.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The tree.
    pub root: StackId,
    /// The fence of the owner's lease.
    pub fence: u64,
    /// Texts; existing ones are left alone. A text stays as long as recipes name it.
    pub contents: Vec<Content>,
    /// Recipes.
    pub recipes: Vec<RecipeRow>,
    /// Recipes that are no longer needed.
    pub dropped_recipes: Vec<RecipeId>,
    /// Stacks.
    pub stacks: Vec<StackRow>,
    /// Resources.
    pub resources: Vec<ResourceRow>,
    /// Resources that no longer exist.
    pub dropped_resources: Vec<ResourceId>,
    /// Snapshots.
    pub snapshots: Vec<SnapshotRow>,
    /// Snapshots that no longer exist.
    pub dropped_snapshots: Vec<SnapshotId>,
    /// Events.
    pub events: Vec<EventRow>,
    /// Commands that were carried out.
    pub done: Vec<CommandId>,
    /// Whether the tree has work to do, so that an engine adopts it.
    pub has_work: bool,
}

impl Batch {
    /// How many bytes of texts and bodies it has.
    pub(crate) fn byte_size(&self) -> usize {
        let contents = self.contents.iter().map(|it| it.bytes.len());
        let recipes = self.recipes.iter().map(|it| it.body.len());
        let stacks = self.stacks.iter().map(|it| it.body.len());
        let resources = self.resources.iter().map(|it| it.body.len());
        let snapshots = self.snapshots.iter().map(|it| it.body.len());
        let events = self.events.iter().map(|it| it.body.len());
        contents.chain(recipes).chain(stacks).chain(resources).chain(snapshots).chain(events).sum()
    }
}

/// A text and the hash under which it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The hash.
    pub hash: Hash,
    /// The text.
    pub bytes: Arc<[u8]>,
}

/// A stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// Its id.
    pub id: StackId,
    /// The root of its tree.
    pub root: StackId,
    /// The stack that it is nested in.
    pub parent: Option<StackId>,
    /// The project that it belongs to.
    pub project: Arc<str>,
    /// The name of the user who created it.
    pub user_name: Arc<str>,
    /// Its name, state, times and tags.
    pub summary: StackSummary,
    /// Its recipe.
    pub recipe: RecipeId,
    /// Its recipe before the action in progress.
    pub previous: Option<RecipeId>,
    /// The rest.
    pub body: Vec<u8>,
}

/// A recipe: names of texts, and values. It never changes once it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeRow {
    /// Its id.
    pub id: RecipeId,
    /// The tree that it belongs to.
    pub root: StackId,
    /// The texts that it needs: a template and files.
    pub contents: Vec<Hash>,
    /// The rest.
    pub body: Vec<u8>,
}

/// A snapshot of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotRow {
    /// Its id.
    pub id: SnapshotId,
    /// The root of its stack's tree.
    pub root: StackId,
    /// The stack.
    pub stack: StackId,
    /// The project of the stack.
    pub project: Arc<str>,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// Its action and status: the create or the delete of the snapshot.
    pub state: State,
    /// Why it is in that state.
    pub reason: Arc<str>,
    /// When it was requested.
    pub created: Time,
    /// The rest: [`crate::snapshot::read_snapshot`] reads it.
    pub body: Vec<u8>,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRow {
    /// Its id.
    pub id: ResourceId,
    /// Its stack.
    pub stack: StackId,
    /// The root of its stack's tree.
    pub root: StackId,
    /// Grows with each resource that is added to a tree.
    pub number: u64,
    /// Its name, type, state, physical id and times.
    pub summary: ResourceSummary,
    /// The rest; empty if it was not read.
    pub body: Vec<u8>,
}

/// The texts that the definition in the body of a resource's row hides: no reason and no id may show them.
pub fn hidden_in_body(body: &[u8], id: ResourceId) -> Result<HiddenTexts, StoreError> {
    use crate::record::Record;
    let body = crate::record::v1::ResourceBody::read(body, id)?;
    let definition = body.definition.map(kiln_template::ResolvedDefinition::from);
    let values = definition.iter().flat_map(|it| it.properties.values().chain([&it.metadata]));
    Ok(HiddenTexts::of(values))
}

/// An event: a state that a stack or a resource reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Its id.
    pub id: EventId,
    /// The stack.
    pub stack: StackId,
    /// The root of its stack's tree.
    pub root: StackId,
    /// Grows with each event of a tree.
    pub number: u64,
    /// When it happened.
    pub time: Time,
    /// The name of the resource, or of the stack.
    pub resource: Arc<str>,
    /// The type of the resource, or `OS::Heat::Stack`.
    pub kind: Arc<str>,
    /// The id that its service gave to the resource, as readers see it, or the id of the stack.
    pub physical_id: Arc<str>,
    /// The state that was reached.
    pub state: State,
    /// Why; no more than 255 characters.
    pub reason: Arc<str>,
    /// The rest: the properties at that moment, if they are kept with this event.
    pub body: Vec<u8>,
}

impl EventRow {
    /// How many bytes it has, roughly.
    pub fn byte_size(&self) -> u64 {
        /// The columns of a fixed size.
        const COLUMNS: usize = 128;
        let texts = [&self.resource, &self.kind, &self.physical_id, &self.reason];
        let texts: usize = texts.iter().map(|text| text.len()).sum();
        (COLUMNS + texts + self.body.len()) as u64
    }

    /// The properties of the resource at that moment.
    pub fn properties(&self) -> kiln_template::Value {
        use crate::record::Record;
        let body = match self.body.as_slice() {
            [] => None,
            body => match crate::record::v1::EventBody::read(body, self.id) {
                Ok(body) => Some(body.properties.0),
                Err(error) => {
                    // An event is history: nothing is decided by it, and the others can be shown.
                    tracing::error!(%error, "an event is shown without its properties");
                    None
                }
            },
        };
        kiln_template::Value::Map(body.unwrap_or_default())
    }
}

/// A command for a tree's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRow {
    /// Its id.
    pub id: CommandId,
    /// The tree.
    pub root: StackId,
    /// When it came.
    pub time: Time,
    /// The command, as a record.
    pub body: Vec<u8>,
}

/// A query for stacks.
#[derive(Clone, Debug, Default)]
pub struct StackQuery {
    /// Only those of this project.
    pub project: Option<Arc<str>>,
    /// Only those nested in this stack.
    pub parent: Option<StackId>,
    /// Nested ones too. Without this, and without a parent, there are roots only.
    pub nested: bool,
    /// Deleted ones too.
    pub deleted: bool,
    /// Each must hold; of the values of one, any. Ids in any form that names them.
    pub filters: Vec<(StackField, Vec<Arc<str>>)>,
    /// Which tags they must have.
    pub tags: TagQuery,
    /// How they are sorted; the id breaks ties. Without any key: by creation.
    pub sort: Vec<StackSort>,
    /// From the last to the first.
    pub descending: bool,
    /// Only those behind this one. If there is no such stack, all.
    pub marker: Option<StackId>,
    /// No more than this.
    pub limit: Option<u64>,
    /// Whether the bodies are read, too. Otherwise they are empty.
    pub with_bodies: bool,
}

/// A field by which stacks can be filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackField {
    /// The id.
    Id,
    /// The name.
    Name,
    /// The action.
    Action,
    /// The status.
    Status,
    /// The reason of the state.
    Reason,
    /// The project.
    Project,
    /// The name of the user who created it.
    UserName,
    /// The stack that it is nested in.
    Parent,
}

/// A field by which stacks can be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackSort {
    /// The name.
    Name,
    /// The status.
    Status,
    /// When it was created.
    Created,
    /// When it was last changed.
    Updated,
}

/// The tags that stacks must have; an empty list means no condition.
#[derive(Clone, Debug, Default)]
pub struct TagQuery {
    /// All of these.
    pub all: Vec<Arc<str>>,
    /// One of these.
    pub any: Vec<Arc<str>>,
    /// Not all of these.
    pub not_all: Vec<Arc<str>>,
    /// None of these.
    pub none: Vec<Arc<str>>,
}

/// A query for events, which are listed by their numbers.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// The stacks whose events are listed.
    pub stacks: Vec<StackId>,
    /// Each must hold; of the values of one, any.
    pub filters: Vec<(EventField, Vec<Arc<str>>)>,
    /// From the last to the first.
    pub descending: bool,
    /// Only those behind this one. If there is no such event, all.
    pub marker: Option<EventId>,
    /// No more than this.
    pub limit: Option<u64>,
}

/// A field by which events can be filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventField {
    /// The id.
    Id,
    /// The name of the resource.
    Resource,
    /// The type of the resource.
    Kind,
    /// The action.
    Action,
    /// The status.
    Status,
}
