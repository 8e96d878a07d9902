//! Signatures that were answered: each is good for one request.
//!
//! A signature with a time is good for a quarter of an hour, so it is remembered as long. Clients write down
//! whole seconds: two equal requests of one second have one signature. Whoever only reads, or reports what
//! was measured, may therefore come again for a moment; what changes something is done once. What we failed at may be tried again.
//!
//! All processes on one store remember together. What changes something is noted there before it is done.
//! Everything else is told to the others every two seconds, all of it in one row: it may come again for longer
//! than that anyway, and ten thousand reports a second cost what one does.

use super::Effect;
use crate::app::App;
use kiln_engine::ids::Ids;
use kiln_engine::objects::{ObjectKind, ObjectQuery, ObjectRow};
use kiln_engine::runtime::{SystemIds, now};
use kiln_engine::store::{Store, StoreError};
use kiln_engine::time::Time;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// How long before and after its time a signature is good.
pub(super) const VALIDITY: Duration = Duration::from_secs(15 * 60);

/// How long a request that only reads, or reports, may come again.
const REPEAT_WINDOW: Duration = Duration::from_secs(5);

/// How often the others are told, and heard.
const SYNC_INTERVAL: Duration = Duration::from_secs(2);

/// How much later than it says a row may be seen: clocks differ, and commits take their time.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// How many are remembered, twice. If there are more, the oldest are forgotten.
const MAX_SIGNATURES: usize = 100_000;

/// How many rows are read at once, and dropped.
const PAGE_ROWS: u64 = 100;

/// A signature, by the first half of its hash.
pub(super) type Key = [u8; 16];

/// Rows in which several signatures are told of, and those of one that changed something.
const BATCH: &str = "several";
const CHANGE: &str = "change";

/// Signatures that were answered.
#[derive(Debug, Default)]
pub struct ReplayGuard {
    seen: Mutex<Seen>,
    synced: tokio::sync::Mutex<Synced>,
}

#[derive(Debug, Default)]
struct Seen {
    /// When the younger ones began to be kept.
    since: Option<Time>,
    younger: HashMap<Key, Time>,
    older: HashMap<Key, Time>,
    /// Those that the others do not know of.
    unsent: HashSet<Key>,
}

/// What was heard of others.
#[derive(Debug, Default)]
struct Synced {
    /// When all that was there was read; never before.
    until: Option<Time>,
    /// The rows that were read, and when they were written.
    rows: HashMap<Uuid, Time>,
    /// When rows were last dropped that nobody needs.
    cleaned: Time,
}

impl ReplayGuard {
    /// Whether a request with a signature is let in; it is spent then.
    pub(super) async fn admit(
        &self,
        store: &dyn Store,
        key: Key,
        effect: Effect,
        now: Time,
    ) -> Result<bool, StoreError> {
        if !self.seen().admit(key, effect, now) {
            return Ok(false);
        }
        if effect != Effect::Changes {
            return Ok(true);
        }
        let added = store.add_object(row(Uuid::from_bytes(key), CHANGE, now, Vec::new())).await;
        if added.is_err() {
            self.seen().forget(&key);
        }
        added
    }

    /// A request that we failed at may come again.
    pub(super) async fn forget(&self, store: &dyn Store, key: &Key, effect: Effect) {
        self.seen().forget(key);
        if effect == Effect::Changes {
            // If that fails, too, it has to be signed anew.
            _ = store.drop_object(ObjectKind::UsedSignatures, Uuid::from_bytes(*key)).await;
        }
    }

    /// Tells other processes what was answered here, and hears what they answered.
    pub async fn sync(&self, store: &dyn Store, now: Time) -> Result<(), StoreError> {
        let mut synced = self.synced.lock().await;
        let unsent = mem::take(&mut self.seen().unsent);
        if !unsent.is_empty() {
            let (id, bytes) =
                (SystemIds::default().next(), unsent.iter().flatten().copied().collect());
            let told = store.put_object(row(id, BATCH, now, bytes)).await;
            if let Err(error) = told {
                self.seen().unsent.extend(unsent);
                return Err(error);
            }
            synced.rows.insert(id, now);
        }
        self.read_batches(&mut synced, store, now).await?;
        if now.since(synced.cleaned) > MAX_DELAY {
            store
                .drop_objects(ObjectKind::UsedSignatures, now - VALIDITY * 2 - MAX_DELAY, PAGE_ROWS)
                .await?;
            synced.cleaned = now;
        }
        Ok(())
    }

    /// Reads what others told since it was last read, from the last to the first.
    async fn read_batches(
        &self,
        synced: &mut Synced,
        store: &dyn Store,
        now: Time,
    ) -> Result<(), StoreError> {
        let from = synced.until.map_or(now - VALIDITY * 2, |until| until - MAX_DELAY);
        let mut query = ObjectQuery {
            subject: Some(BATCH.into()),
            descending: true,
            limit: Some(PAGE_ROWS),
            ..ObjectQuery::new(ObjectKind::UsedSignatures)
        };
        loop {
            let rows = store.objects(&query).await?;
            let is_last = (rows.len() as u64) < PAGE_ROWS;
            query.marker = rows.last().map(|row| row.id);
            let mut new = rows.into_iter().take_while(|row| row.created >= from).peekable();
            let has_some = new.peek().is_some();
            for row in new.filter(|row| synced.rows.insert(row.id, row.created).is_none()) {
                self.seen().read_batches(&row, now);
            }
            if is_last || !has_some {
                break;
            }
        }
        synced.until = Some(now);
        synced.rows.retain(|_, written| *written >= now - MAX_DELAY * 2);
        Ok(())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Exchanges what was answered with other processes, again and again; never ends.
pub async fn keep_syncing(app: Arc<App>) {
    loop {
        tokio::time::sleep(SYNC_INTERVAL).await;
        if let Err(error) = app.replay_guard.sync(&**app.service.store(), now()).await {
            tracing::warn!("what was answered is told to other processes later: {error}");
        }
    }
}

fn row(id: Uuid, subject: &str, now: Time, body: Vec<u8>) -> ObjectRow {
    ObjectRow {
        id,
        kind: ObjectKind::UsedSignatures,
        project: "".into(),
        subject: subject.into(),
        uses: None,
        created: now,
        updated: None,
        body,
    }
}

impl Seen {
    fn admit(&mut self, key: Key, effect: Effect, now: Time) -> bool {
        self.turn(now);
        match self.first(&key) {
            None => {
                self.younger.insert(key, now);
                if effect != Effect::Changes && self.unsent.len() < 2 * MAX_SIGNATURES {
                    self.unsent.insert(key);
                }
                true
            }
            Some(first) => effect != Effect::Changes && now.since(first) <= REPEAT_WINDOW,
        }
    }

    fn first(&self, key: &Key) -> Option<Time> {
        self.younger.get(key).or_else(|| self.older.get(key)).copied()
    }

    fn forget(&mut self, key: &Key) {
        self.younger.remove(key);
        self.older.remove(key);
        self.unsent.remove(key);
    }

    /// Takes what another process tells.
    fn read_batches(&mut self, row: &ObjectRow, now: Time) {
        let (keys, _) = row.body.as_chunks::<16>();
        for key in keys {
            self.turn(now);
            if self.first(key).is_none() {
                self.younger.insert(*key, row.created);
            }
        }
    }

    /// Forgets what is no longer good: one may come a quarter of an hour before its time, and is good for as
    /// long after it.
    fn turn(&mut self, now: Time) {
        let since = *self.since.get_or_insert(now);
        let passed = now.since(since);
        if passed > VALIDITY * 2 || self.younger.len() >= MAX_SIGNATURES {
            self.older = match passed > VALIDITY * 4 {
                true => HashMap::new(),
                false => mem::take(&mut self.younger),
            };
            self.younger = HashMap::new();
            self.since = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Effect::{Changes, Reads, Reports};
    use kiln_engine::memory::MemoryStore;

    fn key(number: u32) -> Key {
        let mut key = [0; 16];
        key[..4].copy_from_slice(&number.to_be_bytes());
        key
    }

    fn at(seconds: i64) -> Time {
        Time::from_micros((1_900_000_000 + seconds) * 1_000_000)
    }

    /// Processes that share a store.
    struct Process<'s>(ReplayGuard, &'s MemoryStore);

    impl Process<'_> {
        fn on(store: &MemoryStore) -> Process<'_> {
            Process(ReplayGuard::default(), store)
        }

        async fn admit(&self, number: u32, effect: Effect, seconds: i64) -> bool {
            self.0.admit(self.1, key(number), effect, at(seconds)).await.unwrap()
        }

        async fn sync(&self, seconds: i64) {
            self.0.sync(self.1, at(seconds)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn what_changes_something_is_done_once_and_reads_may_come_again_for_a_moment() {
        let store = MemoryStore::new();
        let one = Process::on(&store);
        assert!(one.admit(1, Changes, 0).await);
        assert!(!one.admit(1, Changes, 0).await && !one.admit(1, Changes, 1700).await);
        for (number, effect) in [(2, Reads), (3, Reports)] {
            assert!(one.admit(number, effect, 10).await && one.admit(number, effect, 15).await);
            assert!(!one.admit(number, effect, 16).await);
        }
        assert!(!one.admit(2, Changes, 12).await, "nor as something else");
        one.0.forget(&store, &key(1), Changes).await;
        assert!(one.admit(1, Changes, 20).await, "what failed may be tried again");
    }

    #[tokio::test]
    async fn what_one_process_did_no_other_does_and_none_that_comes_later() {
        let store = MemoryStore::new();
        let (one, other) = (Process::on(&store), Process::on(&store));
        assert!(one.admit(1, Changes, 0).await);
        assert!(!other.admit(1, Changes, 0).await, "at once");
        assert!(!Process::on(&store).admit(1, Changes, 900).await, "after a restart");
        one.0.forget(&store, &key(1), Changes).await;
        assert!(
            Process::on(&store).admit(1, Changes, 1).await,
            "what failed may be tried elsewhere"
        );
        store.set_failing(true);
        assert!(one.0.admit(&store, key(2), Changes, at(2)).await.is_err());
        store.set_failing(false);
        assert!(one.admit(2, Changes, 2).await, "what could not be noted was not done");
    }

    #[tokio::test]
    async fn reports_are_told_to_the_others_all_in_one_row() {
        let store = MemoryStore::new();
        let (one, other) = (Process::on(&store), Process::on(&store));
        for number in 0..10_000 {
            assert!(one.admit(number, Reports, 0).await);
        }
        one.sync(2).await;
        one.sync(4).await;
        let query = ObjectQuery::new(ObjectKind::UsedSignatures);
        use kiln_engine::objects::Objects;
        assert_eq!(store.count_objects(&query).await.unwrap(), 1);
        other.sync(4).await;
        assert!(other.admit(7, Reports, 5).await, "for a moment, as here");
        assert!(!other.admit(7, Reports, 8).await && !other.admit(9_999, Reports, 800).await);
        assert!(other.admit(10_000, Reports, 8).await);
        let later = Process::on(&store);
        later.sync(1000).await;
        assert!(!later.admit(7, Reports, 1000).await, "after a restart");
        // What nobody lets in any more need not be remembered.
        later.sync(10_000).await;
        assert_eq!(store.count_objects(&query).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_row_that_is_seen_late_is_heard() {
        let store = MemoryStore::new();
        let (one, slow) = (Process::on(&store), Process::on(&store));
        assert!(slow.admit(1, Reports, 0).await);
        one.sync(30).await;
        slow.sync(2).await;
        one.sync(32).await;
        assert!(!one.admit(1, Reports, 33).await);
    }

    #[tokio::test]
    async fn it_is_remembered_as_long_as_it_is_good_and_not_for_ever() {
        let store = MemoryStore::new();
        let one = Process::on(&store);
        let admit = async |number, minutes: i64| one.admit(number, Reads, 60 * minutes).await;
        assert!(admit(1, 0).await && admit(2, 29).await && admit(3, 31).await);
        assert!(!admit(2, 58).await, "good for half an hour at most");
        assert!(admit(4, 70).await && admit(1, 71).await && admit(2, 300).await);
    }

    #[tokio::test]
    async fn no_more_are_kept_than_there_is_room_for() {
        let store = MemoryStore::new();
        let one = Process::on(&store);
        for number in 0..250_000 {
            assert!(one.admit(number, Reads, 0).await);
        }
        let seen = one.0.seen();
        assert!(seen.younger.len() + seen.older.len() <= 2 * MAX_SIGNATURES);
        assert!(seen.unsent.len() <= 2 * MAX_SIGNATURES);
    }
}
