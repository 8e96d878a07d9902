//! What is remembered for a while, under the hash of a secret: bounded, the oldest goes first.

use kiln_engine::time::Time;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The hash of a secret.
pub(super) type Key = [u8; 32];

/// The hash of several texts, each apart from the next.
pub(super) fn key(salt: &[u8], texts: &[&str]) -> Key {
    let mut hash = Sha256::new();
    hash.update(salt);
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().into()
}

/// What is remembered for a while.
pub(super) struct Cache<V> {
    capacity: usize,
    inner: Mutex<Inner<V>>,
}

struct Inner<V> {
    entries: HashMap<Key, Entry<V>>,
    /// The keys in the order in which they came.
    order: BTreeMap<u64, Key>,
    next: u64,
}

struct Entry<V> {
    number: u64,
    until: Time,
    value: V,
}

impl<V: Clone> Cache<V> {
    /// Nothing yet, and never more than so many.
    pub(super) fn new(capacity: usize) -> Cache<V> {
        let inner = Inner { entries: HashMap::new(), order: BTreeMap::new(), next: 0 };
        Cache { capacity, inner: Mutex::new(inner) }
    }

    /// What is remembered under a key, unless its time is over.
    pub(super) fn get(&self, key: &Key, now: Time) -> Option<V> {
        let mut inner = self.lock();
        let entry = inner.entries.get(key)?;
        if now < entry.until {
            return Some(entry.value.clone());
        }
        inner.remove(key);
        None
    }

    /// Remembers something until a moment.
    pub(super) fn insert(&self, key: Key, value: V, until: Time) {
        if self.capacity == 0 {
            return;
        }
        let mut inner = self.lock();
        inner.remove(&key);
        if inner.entries.len() >= self.capacity
            && let Some((_, oldest)) = inner.order.pop_first()
        {
            inner.entries.remove(&oldest);
        }
        let number = inner.next;
        inner.next += 1;
        inner.order.insert(number, key);
        inner.entries.insert(key, Entry { number, until, value });
    }

    /// Forgets what is of no use any more; tells how much that was.
    pub(super) fn retain(&self, keep: impl Fn(&V) -> bool) -> usize {
        self.lock().retain(|entry| keep(&entry.value))
    }

    /// Forgets what is over.
    pub(super) fn purge(&self, now: Time) {
        self.lock().retain(|entry| now < entry.until);
    }

    /// Whether nothing is remembered.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().entries.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Inner<V> {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.number);
        }
    }

    fn retain(&mut self, keep: impl Fn(&Entry<V>) -> bool) -> usize {
        let before = self.entries.len();
        let Inner { entries, order, .. } = self;
        entries.retain(|_, entry| {
            let kept = keep(entry);
            if !kept {
                order.remove(&entry.number);
            }
            kept
        });
        before - entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn the_oldest_goes_first() {
        let cache = Cache::new(2);
        let keys = ["a", "b", "c"].map(|text| key(b"", &[text]));
        cache.insert(keys[0], 0, at(10));
        cache.insert(keys[1], 1, at(10));
        cache.insert(keys[0], 2, at(10));
        cache.insert(keys[2], 3, at(10));
        assert_eq!(keys.map(|key| cache.get(&key, at(0))), [Some(2), None, Some(3)]);
        assert_eq!(cache.lock().order.len(), 2);
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let cache = Cache::new(10);
        let keys = ["a", "b", "c"].map(|text| key(b"", &[text]));
        for (n, key) in keys.into_iter().enumerate() {
            cache.insert(key, n, at(10 + n as i64));
        }
        assert_eq!(cache.get(&keys[0], at(9)), Some(0));
        assert_eq!(cache.get(&keys[0], at(10)), None);
        cache.purge(at(11));
        assert_eq!(cache.lock().entries.len(), 1);
        assert_eq!(cache.retain(|n| *n != 2), 1);
        assert!(cache.is_empty() && cache.lock().order.is_empty());
    }

    #[test]
    fn texts_are_hashed_apart() {
        assert_ne!(key(b"", &["ab", "c"]), key(b"", &["a", "bc"]));
        assert_ne!(key(b"x", &["a"]), key(b"y", &["a"]));
    }
}
