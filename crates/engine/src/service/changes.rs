//! Who waits for a change, and one place that looks for all of them.
//!
//! Metadata of a server changes with the tree that the server is in, and with what is deployed on it. Whoever waits for
//! that registers both; once in a while the store is asked about everything that is waited for, whoever changed it. What
//! was changed through this service is told at once.

use crate::ids::StackId;
use crate::store::{Store, StoreError};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How often the store is asked.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// What nobody waits for any more is watched for so many looks: whoever waited comes back soon.
const IDLE_POLLS: u32 = 120;

/// What somebody waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeTopic {
    /// A tree, by its root.
    Tree(StackId),
    /// What is deployed on a server.
    Server(Arc<str>),
}

/// Everything that is waited for.
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
    /// What was seen last; nothing until the first look, which counts as a change: something may have happened before.
    mark: Option<u64>,
    tell: watch::Sender<u64>,
    idle: u32,
}

/// Somebody who waits.
pub struct ChangeSubscription {
    first: watch::Receiver<u64>,
    second: Option<watch::Receiver<u64>>,
}

impl ChangeSubscription {
    /// How often something has changed. What is looked up after this is called is at least as new.
    pub fn count(&mut self) -> u64 {
        let second = self.second.as_mut().map_or(0, |one| *one.borrow_and_update());
        *self.first.borrow_and_update() + second
    }

    /// Waits until something may have changed since the count.
    pub async fn changed(&mut self) {
        // One that ends because nobody tells any more is as good as a change: it is looked up.
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
    /// Registers somebody. What happens from now on is told.
    pub(super) fn watch(
        &self,
        store: &Arc<dyn Store>,
        first: ChangeTopic,
        second: Option<ChangeTopic>,
    ) -> ChangeSubscription {
        let mut state = self.state();
        let watch = state.watch(first, second);
        if !std::mem::replace(&mut state.is_polling, true) {
            tokio::spawn(poll(self.clone(), store.clone()));
        }
        watch
    }

    /// Tells of something that was changed here.
    pub(super) fn tell(&self, what: &ChangeTopic) {
        if let Some(entry) = self.state().watched.get(what) {
            entry.tell.send_modify(|count| *count += 1);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds it can fail half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be looked at; nothing if nobody waits any more.
    fn wanted(&self) -> Option<(Vec<StackId>, Vec<Arc<str>>)> {
        let mut state = self.state();
        state.watched.retain(|_, entry| {
            entry.idle = if entry.tell.receiver_count() == 0 { entry.idle + 1 } else { 0 };
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

    /// Notes what was seen, and tells those who wait for what is not as it was.
    fn record(&self, marks: &BTreeMap<ChangeTopic, u64>) {
        for (what, entry) in &mut self.state().watched {
            // What is not there has a mark as well.
            let mark = Some(marks.get(what).copied().unwrap_or(0));
            if entry.mark != mark {
                entry.mark = mark;
                entry.tell.send_modify(|count| *count += 1);
            }
        }
    }
}

impl State {
    fn watch(&mut self, first: ChangeTopic, second: Option<ChangeTopic>) -> ChangeSubscription {
        let mut one = |what: ChangeTopic| {
            let new = || Entry { mark: None, tell: watch::Sender::new(0), idle: 0 };
            let entry = self.watched.entry(what).or_insert_with(new);
            entry.idle = 0;
            entry.tell.subscribe()
        };
        ChangeSubscription { first: one(first), second: second.map(one) }
    }
}

/// Looks until nobody waits any more.
async fn poll(changes: Changes, store: Arc<dyn Store>) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let Some((trees, servers)) = changes.wanted() else { return };
        match marks(&store, &trees, &servers).await {
            Ok(marks) => changes.record(&marks),
            Err(error) => tracing::warn!(%error, "those who wait for changes are told later"),
        }
    }
}

/// What trees and servers are like now: other numbers mean that something changed.
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
        let (trees, servers) = changes.wanted().expect("somebody waits");
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
        changes.tell(&server("two"));
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
