//! A map of bounded size.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A map that evicts its oldest entry when a new one finds it full.
#[derive(Debug)]
pub struct BoundedMap<K, V> {
    capacity: usize,
    entries: HashMap<K, (u64, V)>,
    /// The keys in the order of their insertion.
    order: BTreeMap<u64, K>,
    next: u64,
}

impl<K: Clone + Eq + Hash, V> BoundedMap<K, V> {
    /// An empty map with room for this many entries, at least one.
    pub fn new(capacity: usize) -> BoundedMap<K, V> {
        let (entries, order) = (HashMap::new(), BTreeMap::new());
        BoundedMap { capacity: capacity.max(1), entries, order, next: 0 }
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// Inserts a value, as the newest entry.
    pub fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        while self.entries.len() >= self.capacity {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.entries.remove(&oldest);
        }
        self.order.insert(self.next, key.clone());
        self.entries.insert(key, (self.next, value));
        self.next += 1;
    }

    /// A copy of the value of a key, which is inserted if there is none.
    pub fn get_or_insert_with(&mut self, key: &K, value: impl FnOnce() -> V) -> V
    where
        V: Clone,
    {
        if let Some(known) = self.get(key) {
            return known.clone();
        }
        let value = value();
        self.insert(key.clone(), value.clone());
        value
    }

    /// Removes an entry.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (number, value) = self.entries.remove(key)?;
        self.order.remove(&number);
        Some(value)
    }

    /// Removes the entries whose values are not to be kept; tells how many those were.
    pub fn retain(&mut self, mut keep: impl FnMut(&V) -> bool) -> usize {
        let before = self.entries.len();
        let order = &mut self.order;
        self.entries.retain(|_, (number, value)| {
            let is_kept = keep(value);
            if !is_kept {
                order.remove(number);
            }
            is_kept
        });
        before - self.entries.len()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_is_evicted() {
        let mut map = BoundedMap::new(2);
        map.insert("a", 0);
        map.insert("b", 1);
        map.insert("a", 2);
        map.insert("c", 3);
        assert_eq!(["a", "b", "c"].map(|key| map.get(&key).copied()), [Some(2), None, Some(3)]);
        assert_eq!((map.len(), map.order.len()), (2, 2));
        assert_eq!(map.get_or_insert_with(&"c", || 4), 3);
        assert_eq!(map.get_or_insert_with(&"d", || 4), 4);
        assert_eq!((map.get(&"a"), map.len()), (None, 2));
    }

    #[test]
    fn nothing_is_left_of_removed_entries() {
        let mut map = BoundedMap::new(10);
        (0..5).for_each(|n| map.insert(n, n));
        assert_eq!(map.remove(&4), Some(4));
        assert_eq!(map.retain(|n| *n == 1), 3);
        assert_eq!((map.len(), map.order.len()), (1, 1));
        map.retain(|_| false);
        assert!(map.is_empty() && map.order.is_empty());
    }
}
