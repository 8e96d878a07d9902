//! Protection against replayed signatures: each is good for one request.
//!
//! A signature with a time is valid for a quarter of an hour, so it is remembered as long. Clients sign whole seconds:
//! two equal requests in one second have the same signature. A request that only reads or reports may therefore be
//! repeated for a moment; one that changes something is run once, and repeating it for a moment gets the first answer. A
//! request that failed with an internal error may be tried again.
//!
//! All processes on one store share the signatures. That of a change is stored before the change. All others are stored
//! every two seconds, in one row: they may be repeated for longer than that anyway, and ten thousand reports a second
//! cost as much as one.

use super::Effect;
use super::fault::AwsFault;
use crate::app::App;
use kiln_engine::store::{Store, StoreError};
use kiln_engine::{Ids, ObjectKind, ObjectQuery, ObjectRow, SystemIds, Time, now};
use kiln_template::Value;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How long a signature is valid, before and after its time.
pub(super) const VALIDITY: Duration = Duration::from_secs(15 * 60);

/// How long a request that only reads or reports may be repeated.
const REPEAT_WINDOW: Duration = Duration::from_secs(5);

/// How long an equal request that changes something gets the answer to the first one: clients sign whole seconds.
const ANSWER_WINDOW: Duration = Duration::from_secs(2);

/// How often signatures are exchanged with other processes.
const SYNC_INTERVAL: Duration = Duration::from_secs(2);

/// How late a row may become visible: clocks differ, and commits take time.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// The size of each of the two generations of signatures. A full generation replaces the older one.
const MAX_SIGNATURES: usize = 100_000;

/// How many rows are read or deleted at once.
const PAGE_ROWS: u64 = 100;

/// A signature, by the first half of its hash.
pub(super) type Key = [u8; 16];

/// The subjects of rows with several signatures, and with that of one change.
const BATCH: &str = "several";
const CHANGE: &str = "change";

/// The signatures that were used.
#[derive(Debug, Default)]
pub struct ReplayGuard {
    seen: Mutex<Seen>,
    synced: tokio::sync::Mutex<Synced>,
    /// The answers to recent changes, by their signatures.
    answers: Mutex<HashMap<Key, (Time, FirstAnswer)>>,
}

/// The answer to a change, which is locked until the change was carried out.
pub(super) type FirstAnswer = Arc<tokio::sync::Mutex<Option<Result<Value, AwsFault>>>>;

#[derive(Debug, Default)]
struct Seen {
    /// When the younger generation began.
    since: Option<Time>,
    younger: HashMap<Key, Time>,
    older: HashMap<Key, Time>,
    /// The signatures that other processes do not know yet.
    unsent: HashSet<Key>,
}

/// The state of the exchange with other processes.
#[derive(Debug, Default)]
struct Synced {
    /// The time of the last complete read, if there was one.
    until: Option<Time>,
    /// The rows that were read, with the times when they were written.
    rows: HashMap<Uuid, Time>,
    /// When old rows were last deleted.
    cleaned: Time,
}

impl ReplayGuard {
    /// Whether a request with a signature is accepted; the signature counts as used then.
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

    /// The answer to a change with a signature, which may not be there yet. Clients sign whole seconds: the second of two
    /// equal requests in one second gets the answer to the first, and is not carried out.
    pub(super) fn answer(&self, key: Key, now: Time) -> FirstAnswer {
        let mut answers = self.answers.lock();
        answers.retain(|_, (since, _)| now.since(*since) <= ANSWER_WINDOW);
        answers.entry(key).or_insert_with(|| (now, FirstAnswer::default())).1.clone()
    }

    /// Forgets a signature, so that a request that failed can be repeated.
    pub(super) async fn forget(&self, store: &dyn Store, key: &Key, effect: Effect) {
        self.seen().forget(key);
        if effect == Effect::Changes {
            // If this fails as well, the client has to sign again.
            _ = store.drop_object(ObjectKind::UsedSignatures, Uuid::from_bytes(*key)).await;
        }
    }

    /// Stores the signatures used here, and reads those used by other processes.
    pub async fn sync(&self, store: &dyn Store, now: Time) -> Result<(), StoreError> {
        let mut synced = self.synced.lock().await;
        let unsent = mem::take(&mut self.seen().unsent);
        if !unsent.is_empty() {
            let (id, bytes) =
                (SystemIds::default().next(), unsent.iter().flatten().copied().collect());
            let stored = store.put_object(row(id, BATCH, now, bytes)).await;
            if let Err(error) = stored {
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

    /// Reads the rows of other processes since the last read, newest first.
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
        self.seen.lock()
    }
}

/// Synchronises with other processes at intervals; never ends.
pub async fn keep_syncing(app: Arc<App>) {
    loop {
        tokio::time::sleep(SYNC_INTERVAL).await;
        if let Err(error) = app.replay_guard.sync(&**app.service.store(), now()).await {
            tracing::warn!(
                "used signatures could not be exchanged with other processes, retrying: {error}"
            );
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

    /// Adds the signatures of another process.
    fn read_batches(&mut self, row: &ObjectRow, now: Time) {
        let (keys, _) = row.body.as_chunks::<16>();
        for key in keys {
            self.turn(now);
            if self.first(key).is_none() {
                self.younger.insert(*key, row.created);
            }
        }
    }

    /// Drops the older generation when its signatures are no longer valid: a signature may be used from a quarter of an
    /// hour before its time until a quarter of an hour after it.
    fn turn(&mut self, now: Time) {
        let since = *self.since.get_or_insert(now);
        let passed = now.since(since);
        if passed > VALIDITY * 2 || self.younger.len() >= MAX_SIGNATURES {
            self.older =
                if passed > VALIDITY * 4 { HashMap::new() } else { mem::take(&mut self.younger) };
            self.younger = HashMap::new();
            self.since = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Effect::{Changes, Reads, Reports};
    use kiln_engine::MemoryStore;

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
        use kiln_engine::Objects;
        assert_eq!(store.count_objects(&query).await.unwrap(), 1);
        other.sync(4).await;
        assert!(other.admit(7, Reports, 5).await, "for a moment, as here");
        assert!(!other.admit(7, Reports, 8).await && !other.admit(9_999, Reports, 800).await);
        assert!(other.admit(10_000, Reports, 8).await);
        let later = Process::on(&store);
        later.sync(1000).await;
        assert!(!later.admit(7, Reports, 1000).await, "after a restart");
        // Rows with expired signatures are deleted.
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
