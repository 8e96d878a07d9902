//! Subscriptions to changes, and one task that polls the store for all of them.
//!
//! The metadata of a server changes with the tree that the server is in, and with the deployments on it. A client that
//! waits for a change subscribes to both; the task polls the store for all topics, because other processes may change
//! them. Changes through this service, and those of which the wakeups tells, are announced at once.

use crate::ids::StackId;
use crate::store::{Store, StoreError};
use crate::wakeup::{Listener, Wakeup, WakeupChannel};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How often the store is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How often the changes of a tree are announced at most.
const ANNOUNCE_INTERVAL: Duration = Duration::from_millis(250);

/// For how many polls a topic without subscribers is kept: clients usually come back soon.
const IDLE_POLLS: u32 = 120;

/// A topic whose changes a client waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeTopic {
    /// A tree, by its root.
    Tree(StackId),
    /// The deployments on a server.
    Server(Arc<str>),
}

/// All topics with subscribers.
#[derive(Clone, Default)]
pub(super) struct Changes {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    watched: BTreeMap<ChangeTopic, Entry>,
    is_polling: bool,
}

struct Entry {
    /// The mark of the last poll. The first poll counts as a change: something may have happened before.
    mark: Option<u64>,
    sender: watch::Sender<u64>,
    idle: u32,
}

/// A subscription to one topic or two.
pub struct ChangeSubscription {
    first: watch::Receiver<u64>,
    second: Option<watch::Receiver<u64>>,
}

impl ChangeSubscription {
    /// The number of changes so far. A read after this call is at least as new.
    pub fn count(&mut self) -> u64 {
        let second = self.second.as_mut().map_or(0, |one| *one.borrow_and_update());
        *self.first.borrow_and_update() + second
    }

    /// Waits until something may have changed since [`ChangeSubscription::count`].
    pub async fn changed(&mut self) {
        // The end of the sender counts as a change: the client reads again.
        match &mut self.second {
            None => _ = self.first.changed().await,
            Some(second) => tokio::select! {
                biased;
                _ = self.first.changed() => {}
                _ = second.changed() => {}
            },
        }
    }
}

impl Changes {
    /// Subscribes to changes from now on.
    pub(super) fn watch(
        &self,
        (store, wakeups): (&Arc<dyn Store>, &WakeupChannel),
        first: ChangeTopic,
        second: Option<ChangeTopic>,
    ) -> ChangeSubscription {
        let mut state = self.state();
        let watch = state.watch(first, second);
        if !std::mem::replace(&mut state.is_polling, true) {
            let poll = poll(self.clone(), store.clone(), wakeups.listen());
            crate::runtime::spawn("poll changes", poll);
        }
        watch
    }

    /// Announces a change that this service made.
    pub(super) fn record_change(&self, what: &ChangeTopic) {
        if let Some(entry) = self.state().watched.get(what) {
            entry.sender.send_modify(|count| *count += 1);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock()
    }

    /// The topics to be polled; `None` if there are no subscribers.
    fn wanted(&self) -> Option<(Vec<StackId>, Vec<Arc<str>>)> {
        let mut state = self.state();
        state.watched.retain(|_, entry| {
            entry.idle = if entry.sender.receiver_count() == 0 { entry.idle + 1 } else { 0 };
            entry.idle <= IDLE_POLLS
        });
        if state.watched.is_empty() {
            state.is_polling = false;
            return None;
        }
        let (mut trees, mut servers) = (Vec::new(), Vec::new());
        for what in state.watched.keys() {
            match what {
                ChangeTopic::Tree(root) => trees.push(*root),
                ChangeTopic::Server(id) => servers.push(id.clone()),
            }
        }
        Some((trees, servers))
    }

    /// Records the marks of a poll, and announces the topics whose marks differ.
    fn record(&self, marks: &BTreeMap<ChangeTopic, u64>) {
        for (what, entry) in &mut self.state().watched {
            // A topic that does not exist has a mark as well.
            let mark = Some(marks.get(what).copied().unwrap_or(0));
            if entry.mark != mark {
                entry.mark = mark;
                entry.sender.send_modify(|count| *count += 1);
            }
        }
    }
}

impl State {
    fn watch(&mut self, first: ChangeTopic, second: Option<ChangeTopic>) -> ChangeSubscription {
        let mut one = |what: ChangeTopic| {
            let new = || Entry { mark: None, sender: watch::Sender::new(0), idle: 0 };
            let entry = self.watched.entry(what).or_insert_with(new);
            entry.idle = 0;
            entry.sender.subscribe()
        };
        ChangeSubscription { first: one(first), second: second.map(one) }
    }
}

/// Polls until there are no subscribers.
async fn poll(changes: Changes, store: Arc<dyn Store>, mut listener: Listener) {
    let mut recent = RecentWakeups::default();
    loop {
        let polled = Instant::now();
        // Wake-ups that may have been lost are a reason to poll at once.
        while !recent.is_lost && polled.elapsed() < POLL_INTERVAL {
            recent.announce(&changes, &mut listener).await;
        }
        recent.is_lost = false;
        let Some((trees, servers)) = changes.wanted() else { return };
        match marks(&store, &trees, &servers).await {
            Ok(marks) => changes.record(&marks),
            Err(error) => tracing::warn!(%error, "could not poll for changes: retrying"),
        }
    }
}

/// The trees that recent wake-ups named. The first change of a tree is announced at once, and those that follow it
/// closely together: each costs a read for every subscriber.
#[derive(Default)]
struct RecentWakeups {
    announced: BTreeSet<StackId>,
    waiting: BTreeSet<StackId>,
    is_lost: bool,
}

impl RecentWakeups {
    /// Receives wake-ups for a while, and announces the changes that they name.
    async fn announce(&mut self, changes: &Changes, listener: &mut Listener) {
        let listen = async {
            loop {
                match listener.recv().await {
                    Wakeup::Change(root) if self.announced.insert(root) => {
                        changes.record_change(&ChangeTopic::Tree(root));
                    }
                    Wakeup::Change(root) => _ = self.waiting.insert(root),
                    Wakeup::Work(_) => {}
                    Wakeup::Anything => return self.is_lost = true,
                }
            }
        };
        // Either the time is over, or messages were lost: both end the wait.
        _ = tokio::time::timeout(ANNOUNCE_INTERVAL, listen).await;
        self.announced = std::mem::take(&mut self.waiting);
        for root in &self.announced {
            changes.record_change(&ChangeTopic::Tree(*root));
        }
    }
}

/// The marks of trees and servers: another mark means that something changed.
async fn marks(
    store: &Arc<dyn Store>,
    trees: &[StackId],
    servers: &[Arc<str>],
) -> Result<BTreeMap<ChangeTopic, u64>, StoreError> {
    let mut marks: BTreeMap<ChangeTopic, u64> = BTreeMap::new();
    for (root, last) in store.last_events(trees).await? {
        marks.insert(ChangeTopic::Tree(root), last.wrapping_add(1));
    }
    let mut by_server: BTreeMap<Arc<str>, Vec<_>> = BTreeMap::new();
    for (server, deployment, config) in store.deployed_on(servers).await? {
        by_server.entry(server).or_default().push((deployment, config));
    }
    for (server, mut all) in by_server {
        all.sort();
        let mut hasher = DefaultHasher::new();
        all.hash(&mut hasher);
        marks.insert(ChangeTopic::Server(server), hasher.finish());
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStore;
    use crate::objects::{ObjectKind, ObjectRow};
    use crate::time::Time;
    use uuid::Uuid;

    fn deployment(id: u128, server: &str) -> ObjectRow {
        ObjectRow {
            id: Uuid::from_u128(id),
            kind: ObjectKind::Deployment,
            project: "p".into(),
            subject: server.into(),
            uses: None,
            created: Time::from_micros(0),
            updated: None,
            body: Vec::new(),
        }
    }

    async fn poll_once(changes: &Changes, store: &Arc<dyn Store>) {
        let (trees, servers) = changes.wanted().expect("a subscription");
        changes.record(&marks(store, &trees, &servers).await.expect("marks"));
    }

    #[tokio::test]
    async fn whoever_waits_is_told_of_what_others_wrote() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let changes = Changes::default();
        let server = |name: &str| ChangeTopic::Server(name.into());
        let mut one = changes.state().watch(server("one"), None);
        let mut two =
            changes.state().watch(ChangeTopic::Tree(StackId(Uuid::nil())), Some(server("two")));
        // The first look counts as a change: something may have happened before.
        poll_once(&changes, &store).await;
        one.changed().await;
        two.changed().await;
        let before = (one.count(), two.count());
        store.put_object(deployment(1, "one")).await.unwrap();
        poll_once(&changes, &store).await;
        one.changed().await;
        assert_eq!((one.count(), two.count()), (before.0 + 1, before.1));
        changes.record_change(&server("two"));
        two.changed().await;
        assert_eq!(two.count(), before.1 + 1);
        poll_once(&changes, &store).await;
        assert_eq!(one.count(), before.0 + 1, "nothing happened");
    }

    #[test]
    fn nobody_looks_when_nobody_waits() {
        let changes = Changes::default();
        drop(changes.state().watch(ChangeTopic::Tree(StackId(Uuid::nil())), None));
        assert!((0..IDLE_POLLS).all(|_| changes.wanted().is_some()), "they come back soon");
        assert!(changes.wanted().is_none());
    }
}
