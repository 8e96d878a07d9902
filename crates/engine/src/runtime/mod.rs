//! The engine at work: trees with their owners, a store, a cloud, and real time.
//!
//! Each tree that the engine owns has a task of its own; all of them hand what they have to write to
//! one task that commits it, as much at once as has come together. Nothing is done in the world for a
//! tree before what it decided is durable.

mod alarms;
mod clock;
mod commit;
mod delegation;
mod driver;
mod event_sinks;
mod webhooks;

pub(crate) use alarms::accepts_alarm_signals;
pub use clock::{SystemIds, now};
pub use commit::Committer;
pub(crate) use event_sinks::post_events;

use crate::config::Config;
use crate::ids::{CommandId, EngineId, Ids, StackId};
use crate::machine::{Command, NewStack};
use crate::state::State;
use crate::store::{CommandRow, CreateError, Lease, NewTree, Store, StoreError};
use crate::time::Time;
use crate::tree::{Env, Tree};
use crate::view::read_tree;
use driver::{Driver, Message};
use kiln_cloud::Transport;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// An engine: owns trees of stacks and carries out what is wanted of them.
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
    /// The trees that it owns.
    trees: Mutex<HashMap<StackId, OwnedTree>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// How often it looked for trees that nobody attends to.
    scans: watch::Sender<u64>,
    /// Tells that there are webhooks to be delivered.
    webhooks_due: Notify,
}

struct OwnedTree {
    fence: u64,
    inbox: mpsc::UnboundedSender<Message>,
    /// The commands that its task was told of. None is carried out twice.
    delivered: HashSet<CommandId>,
    status: watch::Receiver<TreeStatus>,
    task: JoinHandle<()>,
}

impl OwnedTree {
    /// Tells the task of a command, unless it knows.
    fn deliver(&mut self, id: CommandId, command: Command, tell: Option<oneshot::Sender<()>>) {
        if self.delivered.insert(id) {
            // A task that has ended leaves it to whoever takes the tree next.
            _ = self.inbox.send(Message::Command(id, Box::new(command), tell));
        }
    }
}

/// How an engine works with others.
#[derive(Clone, Copy, Debug)]
pub struct EngineSettings {
    /// How long a lease lasts that is not renewed.
    pub lease_duration: Duration,
    /// How often to look for trees that nobody attends to.
    pub scan_interval: Duration,
    /// How many trees to take at once.
    pub claim_limit: usize,
    /// How long a tree in which nothing happens is kept in memory.
    pub idle_timeout: Duration,
    /// How often old records are looked for.
    pub housekeeping_interval: Duration,
    /// How old something must be that a user was about to lend until it is certain that nobody waits for it.
    pub delegation_grace: Duration,
    /// Whether it is certain that no other engine works on the store: then whatever another one owned
    /// is taken up at once.
    pub is_alone: bool,
}

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            lease_duration: Duration::from_secs(15),
            scan_interval: Duration::from_secs(2),
            claim_limit: 100,
            idle_timeout: Duration::from_secs(60),
            housekeeping_interval: Duration::from_secs(60),
            delegation_grace: Duration::from_secs(180),
            is_alone: false,
        }
    }
}

/// How long somebody waits until what they want is under way, and how often they look.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(10);
const BEGIN_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// What can be seen of a tree from outside, once it is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeStatus {
    /// The state of the root stack.
    pub state: State,
    /// Why it is in that state.
    pub reason: Arc<str>,
    /// Whether something is under way.
    pub is_busy: bool,
    /// Grows with every command that was taken.
    pub commands: u64,
    /// Whether something that a user lent has yet to be given back.
    pub has_delegations_to_revoke: bool,
}

/// A tree that is to be added to a store, and the same in memory.
pub(crate) fn new_tree(
    config: Arc<Config>,
    new: NewStack,
    owner: Option<(EngineId, Time)>,
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
    Ok((NewTree { stack, recipe, contents, events, owner }, tree))
}

impl Engine {
    /// Starts an engine: it takes up whatever is unattended, now and from now on.
    pub fn start(
        config: Arc<Config>,
        store: Arc<dyn Store>,
        transport: Arc<dyn Transport>,
        settings: EngineSettings,
    ) -> Engine {
        let id = EngineId(SystemIds::default().next());
        let (committer, committing) = Committer::start(store.clone());
        let inner = Arc::new(Inner {
            id,
            config,
            store,
            transport,
            committer,
            settings,
            trees: Mutex::default(),
            tasks: Mutex::new(vec![committing]),
            scans: watch::Sender::new(0),
            webhooks_due: Notify::new(),
        });
        let engine = Engine { inner };
        engine.spawn(engine.clone().scan_for_work());
        engine.spawn(engine.clone().renew_leases());
        engine.spawn(engine.clone().housekeeping());
        engine.spawn(engine.clone().reap_delegations());
        engine.spawn(engine.clone().evaluate_alarms());
        engine.spawn(engine.clone().deliver_webhooks());
        engine
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let handle = tokio::spawn(task);
        self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    fn trees(&self) -> std::sync::MutexGuard<'_, HashMap<StackId, OwnedTree>> {
        self.inner.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its id.
    pub fn id(&self) -> EngineId {
        self.inner.id
    }

    /// Stops: whatever is under way stops between two steps, and is taken up by the next engine.
    pub async fn stop(&self) {
        let tasks =
            std::mem::take(&mut *self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks.iter().skip(1) {
            task.abort();
        }
        let owned: Vec<OwnedTree> = self.trees().drain().map(|(_, owned)| owned).collect();
        for tree in &owned {
            _ = tree.inbox.send(Message::Release);
        }
        for tree in owned {
            // One that cannot write is not waited for: its lease runs out.
            _ = tokio::time::timeout(Duration::from_secs(5), tree.task).await;
        }
    }

    // --- what users want ---

    /// Creates a stack. It is durable when this returns, and under way.
    pub async fn create(&self, new: NewStack) -> Result<(), CreateError> {
        let until = now() + self.inner.settings.lease_duration;
        let root = new.id;
        let (new, tree) = new_tree(self.inner.config.clone(), new, Some((self.inner.id, until)))?;
        self.inner.store.create_tree(new).await?;
        let lease = Lease { root, engine: self.inner.id, fence: 1, until };
        self.adopt_tree(lease, tree, Vec::new());
        Ok(())
    }

    /// Has something done with a tree. It is durable when this returns.
    pub async fn command(&self, root: StackId, command: Command) -> Result<(), StoreError> {
        self.submit(root, command).await.map(drop)
    }

    /// Has something done with a tree, and waits for a while until it is under way, so that whoever
    /// scans then sees it. It is durable when this returns, and will be done in any case.
    pub async fn begin(&self, root: StackId, command: Command) -> Result<(), StoreError> {
        let (id, taken) = self.submit(root, command).await?;
        let begun = async {
            if let Some(taken) = taken
                && taken.await.is_ok()
            {
                return Ok(());
            }
            // Another engine has the tree, or will; or its task has just ended.
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
        let id = CommandId(SystemIds::default().next());
        let row = CommandRow { id, root, time: now(), body: command.encode() };
        self.inner.store.submit(row).await?;
        let (tell, taken) = oneshot::channel();
        let is_owned = {
            let mut trees = self.trees();
            let owned = trees.get_mut(&root);
            owned.map(|owned| owned.deliver(id, command, Some(tell))).is_some()
        };
        if is_owned {
            return Ok((id, Some(taken)));
        }
        // Whoever takes a tree takes the commands that wait for it, too.
        self.claim_tree(root).await?;
        Ok((id, None))
    }

    /// Waits until nothing is under way in a tree; nothing if this engine does not own it.
    pub async fn wait_until_idle(&self, root: StackId, commands: u64) -> Option<TreeStatus> {
        let mut status = self.trees().get(&root).map(|owned| owned.status.clone())?;
        let accepts_alarm_signals = |it: &TreeStatus| !it.is_busy && it.commands >= commands;
        status.wait_for(accepts_alarm_signals).await.ok().map(|it| it.clone())
    }

    /// Waits until there is nothing left to do, here or unattended in the store.
    pub async fn wait_until_all_idle(&self) {
        let mut scans = self.inner.scans.subscribe();
        loop {
            // What is unattended now is taken up by the next look at the latest.
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
                // A tree that is given up is somebody else's to finish.
                _ = status.wait_for(|status| !has_to_do(status)).await;
            }
        }
    }

    /// What can be seen of a tree that this engine owns.
    pub fn status(&self, root: StackId) -> Option<TreeStatus> {
        self.trees().get(&root).map(|owned| owned.status.borrow().clone())
    }

    // --- trees ---

    /// Takes a tree, if nobody else has it.
    async fn claim_tree(&self, root: StackId) -> Result<bool, StoreError> {
        let until = now() + self.inner.settings.lease_duration;
        let lease = self.inner.store.claim_tree(self.inner.id, root, now(), until).await?;
        match lease {
            Some(lease) => self.load_tree(lease).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Reads a tree from the store and goes on with it.
    async fn load_tree(&self, lease: Lease) -> Result<(), StoreError> {
        let read = read_tree(&*self.inner.store, &self.inner.config, lease.root).await?;
        let Some((tree, commands)) = read else { return Ok(()) };
        self.adopt_tree(lease, tree, commands);
        Ok(())
    }

    fn adopt_tree(&self, lease: Lease, tree: Tree, commands: Vec<CommandRow>) {
        let (inbox, receiver) = mpsc::unbounded_channel();
        let delivered = commands.iter().map(|row| row.id).collect();
        let (driver, status) =
            Driver::new(self.inner.clone(), lease, tree, commands, inbox.clone(), receiver);
        let (root, fence) = (lease.root, lease.fence);
        let engine = self.clone();
        let mut trees = self.trees();
        let task = tokio::spawn(async move {
            // If it breaks down, the tree is given up like any other, for whoever takes it up next.
            _ = tokio::spawn(driver.run()).await;
            _ = engine.inner.store.release(lease).await;
            let mut trees = engine.trees();
            if trees.get(&root).is_some_and(|owned| owned.fence == fence) {
                trees.remove(&root);
            }
        });
        trees.insert(root, OwnedTree { fence, inbox, delivered, status, task });
    }

    async fn scan_for_work(self) {
        let mut is_alone = self.inner.settings.is_alone;
        loop {
            let until = now() + self.inner.settings.lease_duration;
            // If nobody else is there, no other lease is valid, whenever it runs out.
            let (valid_from, take) = match is_alone {
                true => (Time::NEVER, i32::MAX as usize),
                false => (now(), self.inner.settings.claim_limit),
            };
            let claimed = self.inner.store.claim(self.inner.id, valid_from, until, take).await;
            if let Ok(leases) = claimed {
                let is_all = leases.len() < take;
                is_alone = false;
                for lease in leases {
                    // One that cannot be read is left to whoever can: its lease runs out.
                    _ = self.load_tree(lease).await;
                }
                if !is_all {
                    continue;
                }
            }
            self.deliver_waiting_commands().await;
            self.inner.scans.send_modify(|count| *count += 1);
            tokio::time::sleep(self.inner.settings.scan_interval).await;
        }
    }

    /// Looks for what others were asked about trees that this engine owns.
    async fn deliver_waiting_commands(&self) {
        // If it cannot be read now, it is the next time.
        let waiting = self.inner.store.commands_for(self.inner.id).await.unwrap_or_default();
        let mut trees = self.trees();
        for row in waiting {
            let owned = trees.get_mut(&row.root).filter(|owned| !owned.delivered.contains(&row.id));
            if let (Some(owned), Ok(command)) = (owned, Command::decode(&row.body)) {
                owned.deliver(row.id, command, None);
            }
        }
    }

    /// Drops old events and stacks that were deleted long ago, a little at a time.
    async fn housekeeping(self) {
        const AT_ONCE: u64 = 1000;
        loop {
            tokio::time::sleep(self.inner.settings.housekeeping_interval).await;
            let (store, config) = (&self.inner.store, &self.inner.config);
            if let Some(keep) = config.max_events {
                while store.prune_events(keep, AT_ONCE).await.is_ok_and(|it| it == AT_ONCE) {}
            }
            if let Some(age) = config.deleted_stack_retention {
                const TREES: u64 = 20;
                while store.purge(now() - age, None, TREES).await.is_ok_and(|it| it == TREES) {}
            }
            let (samples, history) =
                (now() - config.metric_retention, now() - config.alarm_history_retention);
            let prune = || store.prune_metrics(samples, history, AT_ONCE);
            while prune().await.is_ok_and(|it| it == AT_ONCE) {}
        }
    }

    async fn renew_leases(self) {
        loop {
            tokio::time::sleep(self.inner.settings.lease_duration / 3).await;
            let until = now() + self.inner.settings.lease_duration;
            let Ok(leases) = self.inner.store.renew(self.inner.id, until).await else { continue };
            let kept: std::collections::HashSet<StackId> =
                leases.iter().map(|lease| lease.root).collect();
            for (root, owned) in self.trees().iter() {
                if !kept.contains(root) {
                    _ = owned.inbox.send(Message::Release);
                }
            }
        }
    }
}
