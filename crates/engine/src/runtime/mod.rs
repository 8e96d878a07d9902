//! The engine at work: trees with their owners, a store, a cloud, and real time.
//!
//! Each tree that the engine owns has a task of its own. All of these tasks submit their batches to one
//! task that commits them, as many at once as have come together. No call is made for a tree before the
//! decision to make it is durable.

mod alarms;
mod background;
mod clock;
mod commit;
mod delegation;
mod driver;
mod event_sinks;
mod held_lease;
mod observe;
mod parked;
mod sharing;
mod task;
mod webhooks;

pub(crate) use alarms::accepts_alarm_signals;
pub(crate) use clock::machine_time;
pub use clock::{SystemIds, follow_store_clock, keep_following_store_clock, now};
pub(crate) use commit::Committer;
pub(crate) use event_sinks::post_events;
pub(crate) use task::spawn;

use crate::config::Config;
use crate::ids::{CommandId, EngineId, Ids, StackId};
use crate::machine::{Command, NewStack};
use crate::metrics::Metrics;
use crate::request_id::RequestId;
use crate::state::State;
use crate::store::{CommandRow, CreateError, Lease, NewTree, Store, StoreError};
use crate::time::Time;
use crate::tree::{Env, Tree};
use crate::view::read_tree;
use crate::wakeup::Wakeup;
use crate::workers::{WorkLimits, Workers};
use driver::{Driver, Message, RunEnd};
use held_lease::HeldLease;
use kiln_cloud::{Transport, with_fence};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tracing::Instrument;

/// An engine: owns trees of stacks and carries out the commands for them.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) id: EngineId,
    pub(crate) config: Arc<Config>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) committer: Committer,
    pub(crate) settings: EngineSettings,
    /// Threads for long steps.
    workers: Arc<Workers>,
    /// How many bytes the trees take in which nothing happens, roughly.
    idle_bytes: AtomicUsize,
    new_events: NewEvents,
    /// The trees that it owns.
    trees: Mutex<HashMap<StackId, OwnedTree>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// The trees that could not go on.
    troubled: Mutex<HashMap<StackId, parked::Troubled>>,
    /// How often the store was scanned for trees without an owner.
    scans: watch::Sender<u64>,
    /// For how many more scans trees without an owner are left to other engines.
    scans_to_skip: AtomicUsize,
    /// Wakes the delivery of webhooks.
    webhooks_due: Notify,
}

struct OwnedTree {
    lease: Arc<HeldLease>,
    inbox: mpsc::UnboundedSender<Message>,
    /// The commands that were delivered to the task: none is carried out twice.
    delivered: HashSet<CommandId>,
    status: watch::Receiver<TreeStatus>,
    task: JoinHandle<()>,
}

impl OwnedTree {
    /// Delivers a command to the task, unless that was done before.
    fn deliver(
        &mut self,
        id: CommandId,
        command: impl FnOnce() -> Result<Command, StoreError>,
        started: Option<oneshot::Sender<()>>,
    ) {
        if self.delivered.insert(id) {
            let command = command().map(Box::new);
            // A task that has ended leaves the command to the next owner of the tree.
            _ = self.inbox.send(Message::Command(id, command, started));
        }
    }
}

/// The events that were stored since old ones were pruned.
#[derive(Default)]
struct NewEvents {
    bytes: AtomicU64,
    /// They are so many that old ones have to be pruned before the next time.
    are_many: Notify,
}

impl NewEvents {
    /// Counts the events of a batch that is stored. A tree exceeds its limit by no more than a quarter of it, and what is
    /// stored while old events are pruned.
    fn count(&self, bytes: u64, max_bytes: u64) {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > max_bytes / 4 {
            self.bytes.store(0, Ordering::Relaxed);
            self.are_many.notify_one();
        }
    }
}

/// How an engine shares the work with others.
#[derive(Clone, Copy, Debug)]
pub struct EngineSettings {
    /// How long a lease lasts that is not renewed.
    pub lease_duration: Duration,
    /// How often the store is scanned for trees without an owner.
    pub scan_interval: Duration,
    /// How many trees are claimed at once.
    pub claim_limit: usize,
    /// How long a tree in which nothing happens is kept in memory.
    pub idle_timeout: Duration,
    /// How many bytes such trees may take together, roughly; further ones are released at once.
    pub max_idle_bytes: usize,
    /// How often old records are pruned.
    pub housekeeping_interval: Duration,
    /// The age from which a pending delegation without a stack is revoked: longer than any request takes.
    pub delegation_grace: Duration,
    /// Whether no other engine works on the store: then the trees of former engines are claimed at once,
    /// without waiting for their leases to expire.
    pub is_alone: bool,
}

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            lease_duration: Duration::from_secs(15),
            scan_interval: Duration::from_secs(2),
            claim_limit: 100,
            idle_timeout: Duration::from_secs(60),
            max_idle_bytes: 32 << 20,
            housekeeping_interval: Duration::from_secs(60),
            delegation_grace: Duration::from_secs(180),
            is_alone: false,
        }
    }
}

/// How long a request waits until its command is under way, and how often it polls for that.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(10);
const BEGIN_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How long a stopping engine waits for the task of a tree.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The durable state of a tree, for watchers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeStatus {
    /// The state of the root stack.
    pub state: State,
    /// Why it is in that state.
    pub reason: Arc<str>,
    /// Whether an action is under way.
    pub(crate) is_busy: bool,
    /// The number of commands that were taken so far.
    pub commands: u64,
    /// Whether a trust or an application credential has yet to be revoked.
    pub(crate) has_delegations_to_revoke: bool,
}

/// A new tree: the rows to be added to a store, and the tree in memory.
pub(crate) fn new_tree(
    config: Arc<Config>,
    new: NewStack,
    owner: Option<(EngineId, Time)>,
    max_stacks: Option<u64>,
) -> Result<(NewTree, Tree), StoreError> {
    let mut ids = SystemIds::default();
    let mut env = Env { now: now(), ids: &mut ids };
    let mut tree = Tree::create(config, new, &mut env);
    let batch = tree.take_batch(1);
    let (Some(stack), Some(recipe)) =
        (batch.stacks.into_iter().next(), batch.recipes.into_iter().next())
    else {
        return Err(StoreError::Unavailable("a new tree has no rows".into()));
    };
    let (contents, events) = (batch.contents, batch.events);
    Ok((NewTree { stack, recipe, contents, events, owner, max_stacks }, tree))
}

impl Engine {
    /// Starts an engine: it claims trees that have work and no owner, now and from now on.
    pub fn start(
        config: Arc<Config>,
        store: Arc<dyn Store>,
        transport: Arc<dyn Transport>,
        settings: EngineSettings,
    ) -> Engine {
        let id = EngineId(SystemIds::default().next());
        let (committer, committing) = Committer::start(store.clone(), config.metrics.clone());
        let inner = Arc::new(Inner {
            id,
            workers: Arc::new(Workers::new(WorkLimits::default(), config.work_priority)),
            config,
            store,
            transport,
            committer,
            settings,
            trees: Mutex::default(),
            idle_bytes: AtomicUsize::new(0),
            new_events: NewEvents::default(),
            tasks: Mutex::new(vec![committing]),
            troubled: Mutex::default(),
            scans: watch::Sender::new(0),
            scans_to_skip: AtomicUsize::new(0),
            webhooks_due: Notify::new(),
        });
        let engine = Engine { inner };
        engine.spawn("scan for work", engine.clone().scan_for_work());
        engine.spawn("renew leases", engine.clone().renew_leases());
        engine.spawn("share trees", engine.clone().share_trees());
        engine.spawn("housekeeping", engine.clone().housekeeping());
        engine.spawn("reap delegations", engine.clone().reap_delegations());
        engine.spawn("evaluate alarms", engine.clone().evaluate_alarms());
        engine.spawn("deliver webhooks", engine.clone().deliver_webhooks());
        engine
    }

    fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let handle = spawn(name, task);
        self.inner.tasks.lock().push(handle);
    }

    fn trees(&self) -> parking_lot::MutexGuard<'_, HashMap<StackId, OwnedTree>> {
        self.inner.trees.lock()
    }

    /// The id of this engine.
    pub fn id(&self) -> EngineId {
        self.inner.id
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.config.metrics
    }

    /// Stops the engine: operations in progress stop between two steps, and the next engine continues them.
    pub async fn stop(&self) {
        let tasks = std::mem::take(&mut *self.inner.tasks.lock());
        for task in tasks.iter().skip(1) {
            task.abort();
        }
        let owned: Vec<OwnedTree> = self.trees().drain().map(|(_, owned)| owned).collect();
        for tree in &owned {
            _ = tree.inbox.send(Message::Release);
        }
        for tree in owned {
            // A task that cannot commit is not waited for: its lease expires.
            if tokio::time::timeout(STOP_TIMEOUT, tree.task).await.is_err() {
                tracing::warn!("a tree could not be released in time: its lease expires by itself");
            }
        }
        // Other engines take the trees at once.
        self.inner.config.wakeups.send(Wakeup::Anything);
    }

    // --- commands ---

    /// Creates a stack, unless its project has as many as it may have. The stack is durable when this returns, and its
    /// creation is under way.
    pub async fn create(&self, new: NewStack, max_stacks: Option<u64>) -> Result<(), CreateError> {
        let until = now() + self.inner.settings.lease_duration;
        let root = new.id;
        let owner = Some((self.inner.id, until));
        let (new, tree) = new_tree(self.inner.config.clone(), new, owner, max_stacks)?;
        self.inner.store.create_tree(new).await?;
        let lease = Lease { root, engine: self.inner.id, fence: 1, until };
        self.adopt_tree(lease, tree, Vec::new());
        Ok(())
    }

    /// Submits a command to a tree. The command is durable when this returns.
    pub async fn command(&self, root: StackId, command: Command) -> Result<(), StoreError> {
        self.submit(root, command).await.map(drop)
    }

    /// Submits a command to a tree, and waits for a while until it is under way, so that the client sees
    /// the new state afterwards. The command is durable when this returns, and is carried out in any case.
    pub async fn begin(&self, root: StackId, command: Command) -> Result<(), StoreError> {
        let (id, taken) = self.submit(root, command).await?;
        let begun = async {
            if let Some(taken) = taken
                && taken.await.is_ok()
            {
                return Ok(());
            }
            // Another engine owns the tree, or will; or the task of the tree has just ended.
            while self.inner.store.commands(root).await?.iter().any(|waiting| waiting.id == id) {
                if !self.trees().contains_key(&root) {
                    self.claim_tree(root).await?;
                }
                tokio::time::sleep(BEGIN_POLL_INTERVAL).await;
            }
            Ok(())
        };
        tokio::time::timeout(BEGIN_TIMEOUT, begun).await.unwrap_or(Ok(()))
    }

    async fn submit(
        &self,
        root: StackId,
        command: Command,
    ) -> Result<(CommandId, Option<oneshot::Receiver<()>>), StoreError> {
        let id = RequestId::command_id();
        let row = CommandRow { id, root, time: now(), body: command.encode() };
        self.inner.store.submit(row).await?;
        let (tell, started) = oneshot::channel();
        let is_owned = {
            let mut trees = self.trees();
            let owned = trees.get_mut(&root);
            owned.map(|owned| owned.deliver(id, || Ok(command), Some(tell))).is_some()
        };
        if is_owned {
            return Ok((id, Some(started)));
        }
        // The engine that claims a tree reads the commands that wait for it.
        if !self.claim_tree(root).await? {
            self.inner.config.wakeups.send(Wakeup::Work(root));
        }
        Ok((id, None))
    }

    /// Delivers a stored command to the task of its tree; returns whether this engine owns the tree.
    fn deliver_row(&self, row: &CommandRow) -> bool {
        let mut trees = self.trees();
        let decode = || Command::read(row);
        trees.get_mut(&row.root).map(|owned| owned.deliver(row.id, decode, None)).is_some()
    }

    /// Waits until a tree has no work in progress and so many commands were accepted; `None` if this engine
    /// does not own the tree.
    pub async fn wait_until_idle(&self, root: StackId, commands: u64) -> Option<TreeStatus> {
        let mut status = self.trees().get(&root).map(|owned| owned.status.clone())?;
        let is_idle = |it: &TreeStatus| !it.is_busy && it.commands >= commands;
        status.wait_for(is_idle).await.ok().map(|it| it.clone())
    }

    /// Waits until this engine has looked for work at least once.
    pub async fn wait_until_scanned(&self) {
        let mut scans = self.inner.scans.subscribe();
        // An engine that stops looks no more.
        _ = scans.wait_for(|count| *count > 0).await;
    }

    /// Waits until no tree has work left, in this engine or without an owner in the store.
    pub async fn wait_until_all_idle(&self) {
        let mut scans = self.inner.scans.subscribe();
        loop {
            // A tree without an owner is claimed by the next scan at the latest.
            let seen = *scans.borrow();
            if scans.wait_for(|count| *count > seen + 1).await.is_err() {
                return;
            }
            let statuses: Vec<_> = self.trees().values().map(|it| it.status.clone()).collect();
            let has_to_do = |it: &TreeStatus| it.is_busy || it.has_delegations_to_revoke;
            let busy: Vec<_> = statuses.into_iter().filter(|it| has_to_do(&it.borrow())).collect();
            if busy.is_empty() {
                return;
            }
            for mut status in busy {
                // A tree that this engine gave up is left to its next owner.
                _ = status.wait_for(|status| !has_to_do(status)).await;
            }
        }
    }

    /// The status of a tree that this engine owns.
    pub fn status(&self, root: StackId) -> Option<TreeStatus> {
        self.trees().get(&root).map(|owned| owned.status.borrow().clone())
    }

    // --- trees ---

    /// Claims a tree, unless another engine owns it; returns whether it was claimed.
    async fn claim_tree(&self, root: StackId) -> Result<bool, StoreError> {
        let until = now() + self.inner.settings.lease_duration;
        let lease = self.inner.store.claim_tree(self.inner.id, root, now(), until).await?;
        match lease {
            Some(lease) => self.load_tree(lease).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Reads a tree from the store and continues it.
    async fn load_tree(&self, lease: Lease) -> Result<(), StoreError> {
        let Inner { store, config, workers, .. } = &*self.inner;
        let read = read_tree(&**store, config, workers, lease.root).await;
        if let Err(error) = &read {
            self.unreadable(lease, error).await;
        }
        let Some((tree, commands)) = read? else { return Ok(()) };
        self.adopt_tree(lease, tree, commands);
        Ok(())
    }

    fn adopt_tree(&self, lease: Lease, tree: Tree, commands: Vec<CommandRow>) {
        let (inbox, receiver) = mpsc::unbounded_channel();
        let delivered = commands.iter().map(|row| row.id).collect();
        let held = Arc::new(HeldLease::new(lease, self.inner.settings.lease_duration));
        let begin = self.begin_with(tree, commands);
        let (driver, status) =
            Driver::new(self.inner.clone(), held.clone(), begin, inbox.clone(), receiver);
        let root = lease.root;
        let (engine, of_task) = (self.clone(), held.clone());
        let mut trees = self.trees();
        let task = async move {
            engine.metrics().trees_owned.inc();
            let mut end = None;
            let run = with_fence(of_task.clone(), async { end = Some(driver.run().await) });
            task::catch_panic("tree", run).await;
            // Calls that still wait are left to the next owner, who may have the tree as soon as it is released.
            of_task.lose();
            if !matches!(end, Some(RunEnd::Released)) {
                engine.forget_tree(lease);
            }
            engine.tree_ended(lease, end).await;
            engine.metrics().trees_owned.dec();
            engine.forget_tree(lease);
        };
        // A tree outlives the request that it is loaded for: the span is no part of that request's.
        let span = tracing::info_span!(parent: None, "tree", %root);
        span.follows_from(tracing::Span::current());
        let task = spawn("tree", task.instrument(span));
        trees.insert(root, OwnedTree { lease: held, inbox, delivered, status, task });
    }

    /// Forgets a tree whose task has ended, unless it was adopted again.
    fn forget_tree(&self, lease: Lease) {
        let mut trees = self.trees();
        if trees.get(&lease.root).is_some_and(|owned| owned.lease.fence() == lease.fence) {
            trees.remove(&lease.root);
        }
    }
}
