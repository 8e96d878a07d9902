//! The engine at work: trees with their owners, a store, a cloud, and real time.
//!
//! Each tree that the engine owns has a task of its own; all of them hand what they have to write to
//! one task that commits it, as much at once as has come together. Nothing is done in the world for a
//! tree before what it decided is durable.

mod alarms;
mod clock;
mod commit;
mod driver;
mod letters;
mod posting;
mod promises;

pub(crate) use alarms::is_at_rest;
pub use clock::{Chance, now};
pub use commit::Committer;
pub(crate) use posting::post;

use crate::config::Config;
use crate::ids::{CommandId, EngineId, Ids, StackId};
use crate::machine::{Command, NewStack};
use crate::state::State;
use crate::store::{CommandRow, CreateError, Lease, NewTree, Store, StoreError};
use crate::time::Time;
use crate::tree::{Env, Tree};
use crate::view::read_tree;
use driver::{Driver, Mail};
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
    pub(crate) settings: Settings,
    /// The trees that it owns.
    trees: Mutex<HashMap<StackId, Owned>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// How often it looked for trees that nobody attends to.
    looks: watch::Sender<u64>,
    /// Tells that there are letters to be delivered.
    letters: Notify,
}

struct Owned {
    fence: u64,
    mail: mpsc::UnboundedSender<Mail>,
    /// The commands that its task was told of. None is carried out twice.
    heard: HashSet<CommandId>,
    glance: watch::Receiver<Glance>,
    task: JoinHandle<()>,
}

impl Owned {
    /// Tells the task of a command, unless it knows.
    fn tell(&mut self, id: CommandId, command: Command, tell: Option<oneshot::Sender<()>>) {
        if self.heard.insert(id) {
            // A task that has ended leaves it to whoever takes the tree next.
            _ = self.mail.send(Mail::Command(id, Box::new(command), tell));
        }
    }
}

/// How an engine works with others.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long a lease lasts that is not renewed.
    pub lease: Duration,
    /// How often to look for trees that nobody attends to.
    pub look: Duration,
    /// How many trees to take at once.
    pub take: usize,
    /// How long a tree in which nothing happens is kept in memory.
    pub idle: Duration,
    /// How often old records are looked for.
    pub housekeeping: Duration,
    /// How old something must be that a user was about to lend until it is certain that nobody waits for it.
    pub promises: Duration,
    /// Whether it is certain that no other engine works on the store: then whatever another one owned
    /// is taken up at once.
    pub is_alone: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lease: Duration::from_secs(15),
            look: Duration::from_secs(2),
            take: 100,
            idle: Duration::from_secs(60),
            housekeeping: Duration::from_secs(60),
            promises: Duration::from_secs(180),
            is_alone: false,
        }
    }
}

/// How long somebody waits until what they want is under way, and how often they look.
const BEGUN_PATIENCE: Duration = Duration::from_secs(10);
const BEGUN_LOOK: Duration = Duration::from_millis(5);

/// What can be seen of a tree from outside, once it is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// The state of the root stack.
    pub state: State,
    /// Why it is in that state.
    pub reason: Arc<str>,
    /// Whether something is under way.
    pub is_busy: bool,
    /// Grows with every command that was taken.
    pub commands: u64,
    /// Whether something that a user lent has yet to be given back.
    pub owes: bool,
}

/// A tree that is to be added to a store, and the same in memory.
pub(crate) fn new_tree(
    config: Arc<Config>,
    new: NewStack,
    owner: Option<(EngineId, Time)>,
) -> Result<(NewTree, Tree), StoreError> {
    let mut chance = Chance::default();
    let mut env = Env { now: now(), ids: &mut chance };
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
        settings: Settings,
    ) -> Engine {
        let id = EngineId(Chance::default().next());
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
            looks: watch::Sender::new(0),
            letters: Notify::new(),
        });
        let engine = Engine { inner };
        engine.spawn(engine.clone().look_for_work());
        engine.spawn(engine.clone().renew_leases());
        engine.spawn(engine.clone().keep_house());
        engine.spawn(engine.clone().keep_promises());
        engine.spawn(engine.clone().watch_alarms());
        engine.spawn(engine.clone().deliver_letters());
        engine
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let handle = tokio::spawn(task);
        self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    fn trees(&self) -> std::sync::MutexGuard<'_, HashMap<StackId, Owned>> {
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
        let owned: Vec<Owned> = self.trees().drain().map(|(_, owned)| owned).collect();
        for tree in &owned {
            _ = tree.mail.send(Mail::Leave);
        }
        for tree in owned {
            // One that cannot write is not waited for: its lease runs out.
            _ = tokio::time::timeout(Duration::from_secs(5), tree.task).await;
        }
    }

    // --- what users want ---

    /// Creates a stack. It is durable when this returns, and under way.
    pub async fn create(&self, new: NewStack) -> Result<(), CreateError> {
        let until = now() + self.inner.settings.lease;
        let root = new.id;
        let (new, tree) = new_tree(self.inner.config.clone(), new, Some((self.inner.id, until)))?;
        self.inner.store.create_tree(new).await?;
        let lease = Lease { root, engine: self.inner.id, fence: 1, until };
        self.own(lease, tree, Vec::new());
        Ok(())
    }

    /// Has something done with a tree. It is durable when this returns.
    pub async fn command(&self, root: StackId, command: Command) -> Result<(), StoreError> {
        self.hand_over(root, command).await.map(drop)
    }

    /// Has something done with a tree, and waits for a while until it is under way, so that whoever
    /// looks then sees it. It is durable when this returns, and will be done in any case.
    pub async fn begin(&self, root: StackId, command: Command) -> Result<(), StoreError> {
        let (id, taken) = self.hand_over(root, command).await?;
        let begun = async {
            if let Some(taken) = taken
                && taken.await.is_ok()
            {
                return Ok(());
            }
            // Another engine has the tree, or will; or its task has just ended.
            while self.inner.store.commands(root).await?.iter().any(|waiting| waiting.id == id) {
                if !self.trees().contains_key(&root) {
                    self.take(root).await?;
                }
                tokio::time::sleep(BEGUN_LOOK).await;
            }
            Ok(())
        };
        tokio::time::timeout(BEGUN_PATIENCE, begun).await.unwrap_or(Ok(()))
    }

    async fn hand_over(
        &self,
        root: StackId,
        command: Command,
    ) -> Result<(CommandId, Option<oneshot::Receiver<()>>), StoreError> {
        let id = CommandId(Chance::default().next());
        let row = CommandRow { id, root, time: now(), body: command.encode() };
        self.inner.store.submit(row).await?;
        let (tell, taken) = oneshot::channel();
        let is_owned = {
            let mut trees = self.trees();
            let owned = trees.get_mut(&root);
            owned.map(|owned| owned.tell(id, command, Some(tell))).is_some()
        };
        if is_owned {
            return Ok((id, Some(taken)));
        }
        // Whoever takes a tree takes the commands that wait for it, too.
        self.take(root).await?;
        Ok((id, None))
    }

    /// Waits until nothing is under way in a tree; nothing if this engine does not own it.
    pub async fn rest(&self, root: StackId, commands: u64) -> Option<Glance> {
        let mut glance = self.trees().get(&root).map(|owned| owned.glance.clone())?;
        let is_at_rest = |it: &Glance| !it.is_busy && it.commands >= commands;
        glance.wait_for(is_at_rest).await.ok().map(|it| it.clone())
    }

    /// Waits until there is nothing left to do, here or unattended in the store.
    pub async fn finish(&self) {
        let mut looks = self.inner.looks.subscribe();
        loop {
            // What is unattended now is taken up by the next look at the latest.
            let seen = *looks.borrow();
            if looks.wait_for(|count| *count > seen + 1).await.is_err() {
                return;
            }
            let glances: Vec<_> = self.trees().values().map(|it| it.glance.clone()).collect();
            let has_to_do = |it: &Glance| it.is_busy || it.owes;
            let busy: Vec<_> = glances.into_iter().filter(|it| has_to_do(&it.borrow())).collect();
            if busy.is_empty() {
                return;
            }
            for mut glance in busy {
                // A tree that is given up is somebody else's to finish.
                _ = glance.wait_for(|glance| !has_to_do(glance)).await;
            }
        }
    }

    /// What can be seen of a tree that this engine owns.
    pub fn glance(&self, root: StackId) -> Option<Glance> {
        self.trees().get(&root).map(|owned| owned.glance.borrow().clone())
    }

    // --- trees ---

    /// Takes a tree, if nobody else has it.
    async fn take(&self, root: StackId) -> Result<bool, StoreError> {
        let until = now() + self.inner.settings.lease;
        let lease = self.inner.store.claim_tree(self.inner.id, root, now(), until).await?;
        match lease {
            Some(lease) => self.load(lease).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Reads a tree from the store and goes on with it.
    async fn load(&self, lease: Lease) -> Result<(), StoreError> {
        let read = read_tree(&*self.inner.store, &self.inner.config, lease.root).await?;
        let Some((tree, commands)) = read else { return Ok(()) };
        self.own(lease, tree, commands);
        Ok(())
    }

    fn own(&self, lease: Lease, tree: Tree, commands: Vec<CommandRow>) {
        let (mail, post) = mpsc::unbounded_channel();
        let heard = commands.iter().map(|row| row.id).collect();
        let (driver, glance) =
            Driver::new(self.inner.clone(), lease, tree, commands, mail.clone(), post);
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
        trees.insert(root, Owned { fence, mail, heard, glance, task });
    }

    async fn look_for_work(self) {
        let mut is_alone = self.inner.settings.is_alone;
        loop {
            let until = now() + self.inner.settings.lease;
            // If nobody else is there, no other lease is valid, whenever it runs out.
            let (valid_from, take) = match is_alone {
                true => (Time::NEVER, i32::MAX as usize),
                false => (now(), self.inner.settings.take),
            };
            let claimed = self.inner.store.claim(self.inner.id, valid_from, until, take).await;
            if let Ok(leases) = claimed {
                let is_all = leases.len() < take;
                is_alone = false;
                for lease in leases {
                    // One that cannot be read is left to whoever can: its lease runs out.
                    _ = self.load(lease).await;
                }
                if !is_all {
                    continue;
                }
            }
            self.hear().await;
            self.inner.looks.send_modify(|count| *count += 1);
            tokio::time::sleep(self.inner.settings.look).await;
        }
    }

    /// Looks for what others were asked about trees that this engine owns.
    async fn hear(&self) {
        // If it cannot be read now, it is the next time.
        let waiting = self.inner.store.commands_for(self.inner.id).await.unwrap_or_default();
        let mut trees = self.trees();
        for row in waiting {
            let owned = trees.get_mut(&row.root).filter(|owned| !owned.heard.contains(&row.id));
            if let (Some(owned), Ok(command)) = (owned, Command::decode(&row.body)) {
                owned.tell(row.id, command, None);
            }
        }
    }

    /// Drops old events and stacks that were deleted long ago, a little at a time.
    async fn keep_house(self) {
        const AT_ONCE: u64 = 1000;
        loop {
            tokio::time::sleep(self.inner.settings.housekeeping).await;
            let (store, config) = (&self.inner.store, &self.inner.config);
            if let Some(keep) = config.max_events {
                while store.prune_events(keep, AT_ONCE).await.is_ok_and(|it| it == AT_ONCE) {}
            }
            if let Some(age) = config.keep_deleted {
                const TREES: u64 = 20;
                while store.purge(now() - age, None, TREES).await.is_ok_and(|it| it == TREES) {}
            }
            let (samples, history) = (now() - config.keep_metrics, now() - config.keep_history);
            let prune = || store.prune_metrics(samples, history, AT_ONCE);
            while prune().await.is_ok_and(|it| it == AT_ONCE) {}
        }
    }

    async fn renew_leases(self) {
        loop {
            tokio::time::sleep(self.inner.settings.lease / 3).await;
            let until = now() + self.inner.settings.lease;
            let Ok(leases) = self.inner.store.renew(self.inner.id, until).await else { continue };
            let kept: std::collections::HashSet<StackId> =
                leases.iter().map(|lease| lease.root).collect();
            for (root, owned) in self.trees().iter() {
                if !kept.contains(root) {
                    _ = owned.mail.send(Mail::Leave);
                }
            }
        }
    }
}
