//! A cache of bounded size and age, keyed by the hash of a secret.

use kiln_cloud::BoundedMap;
use kiln_engine::Time;
use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest, Sha256};

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

/// A cache of bounded size and age.
pub(super) struct Cache<V> {
    capacity: usize,
    entries: Mutex<BoundedMap<Key, Entry<V>>>,
}

struct Entry<V> {
    until: Time,
    value: V,
}

impl<V: Clone> Cache<V> {
    /// An empty cache for this many entries.
    pub(super) fn new(capacity: usize) -> Cache<V> {
        Cache { capacity, entries: Mutex::new(BoundedMap::new(capacity)) }
    }

    /// The value of a key, unless it has expired.
    pub(super) fn get(&self, key: &Key, now: Time) -> Option<V> {
        let mut entries = self.lock();
        let entry = entries.get(key)?;
        if now < entry.until {
            return Some(entry.value.clone());
        }
        entries.remove(key);
        None
    }

    /// Inserts a value that expires at a time.
    pub(super) fn insert(&self, key: Key, value: V, until: Time) {
        if self.capacity > 0 {
            self.lock().insert(key, Entry { until, value });
        }
    }

    /// Removes the entries that are not to be kept; tells how many those were.
    pub(super) fn retain(&self, keep: impl Fn(&V) -> bool) -> usize {
        self.lock().retain(|entry| keep(&entry.value))
    }

    /// Removes the expired entries.
    pub(super) fn purge(&self, now: Time) {
        self.lock().retain(|entry| now < entry.until);
    }

    /// Whether the cache is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, BoundedMap<Key, Entry<V>>> {
        self.entries.lock()
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
        assert_eq!(cache.lock().len(), 2);
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
        assert_eq!(cache.lock().len(), 1);
        assert_eq!(cache.retain(|n| *n != 2), 1);
        assert!(cache.is_empty());
    }

    #[test]
    fn texts_are_hashed_apart() {
        assert_ne!(key(b"", &["ab", "c"]), key(b"", &["a", "bc"]));
        assert_ne!(key(b"x", &["a"]), key(b"y", &["a"]));
    }
}
