//! Signatures that were answered: each is good for one request.
//!
//! A signature with a time is good for a quarter of an hour, so it is remembered as long. Clients write down
//! whole seconds: two equal requests of one second have one signature. Whoever only reads, or reports what
//! was measured, may therefore come again for a moment; what changes something is done once. What we failed at may be tried again.

use super::Effect;
use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long before and after its time a signature is good.
pub(super) const FRESH: Duration = Duration::from_secs(15 * 60);

/// How long a request that only reads, or reports, may come again.
const AGAIN: Duration = Duration::from_secs(5);

/// How many are remembered, twice. If there are more, the oldest are forgotten.
const MOST: usize = 100_000;

/// A signature, by its hash.
pub(super) type Key = [u8; 32];

/// Signatures that were answered.
#[derive(Debug, Default)]
pub struct Spent {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// When the younger ones began to be kept.
    since: Option<Instant>,
    younger: HashMap<Key, Instant>,
    older: HashMap<Key, Instant>,
}

impl Spent {
    /// Whether a request with a signature is let in; it is spent then.
    pub(super) fn lets_in(&self, key: Key, effect: Effect, now: Instant) -> bool {
        let mut seen = self.seen();
        seen.turn(now);
        let first = seen.younger.get(&key).or_else(|| seen.older.get(&key)).copied();
        match first {
            None => {
                seen.younger.insert(key, now);
                true
            }
            Some(first) => effect != Effect::Changes && now.duration_since(first) <= AGAIN,
        }
    }

    /// A request that we failed at may come again.
    pub(super) fn forget(&self, key: &Key) {
        let mut seen = self.seen();
        seen.younger.remove(key);
        seen.older.remove(key);
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Forgets what is no longer good: one may come a quarter of an hour before its time, and is good for as
    /// long after it.
    fn turn(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let passed = now.duration_since(since);
        if passed > FRESH * 2 || self.younger.len() >= MOST {
            self.older = match passed > FRESH * 4 {
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

    fn key(number: u32) -> Key {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_be_bytes());
        key
    }

    #[test]
    fn what_changes_something_is_done_once_and_reads_may_come_again_for_a_moment() {
        let (spent, start) = (Spent::default(), Instant::now());
        let at = |number, effect, seconds| {
            spent.lets_in(key(number), effect, start + Duration::from_secs(seconds))
        };
        assert!(at(1, Changes, 0) && !at(1, Changes, 0) && !at(1, Changes, 1700));
        assert!(at(2, Reads, 10) && at(2, Reads, 11) && at(2, Reads, 15) && !at(2, Reads, 16));
        assert!(at(3, Reports, 10) && at(3, Reports, 11) && !at(3, Reports, 16));
        assert!(!at(2, Changes, 12), "nor as something else");
        spent.forget(&key(1));
        assert!(at(1, Changes, 20), "what failed may be tried again");
    }

    #[test]
    fn it_is_remembered_as_long_as_it_is_good_and_not_for_ever() {
        let (spent, start) = (Spent::default(), Instant::now());
        let at = |number, minutes: u64| {
            spent.lets_in(key(number), Changes, start + Duration::from_secs(60 * minutes))
        };
        assert!(at(1, 0) && at(2, 29) && at(3, 31));
        assert!(!at(2, 58), "good for half an hour at most");
        assert!(at(4, 70) && at(1, 71) && at(2, 300));
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let (spent, now) = (Spent::default(), Instant::now());
        for number in 0..250_000 {
            assert!(spent.lets_in(key(number), Changes, now));
        }
        let seen = spent.seen();
        assert!(seen.younger.len() + seen.older.len() <= 2 * MOST);
    }
}
