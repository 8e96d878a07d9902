//! A cache of texts and of the templates in them.
//!
//! A text is stored under its hash and never changes, and a template depends on its text alone: no entry can be stale.
//! The cache is bounded in bytes; the least recently used entries are evicted first.

use crate::store::Hash;
use kiln_template::Template;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash as Key;
use std::sync::Arc;

/// How many bytes of texts are cached.
const MAX_TEXT_BYTES: usize = 8 << 20;
/// About how many bytes of templates are cached.
const MAX_TEMPLATE_BYTES: usize = 32 << 20;
/// About how many bytes a template takes for each byte of its text.
const TEMPLATE_BYTES_PER_TEXT_BYTE: usize = 16;

/// A cache of texts and of the templates in them.
pub struct TemplateCache {
    texts: Mutex<Recent<Hash, Arc<str>>>,
    templates: Mutex<Recent<Arc<str>, Arc<Template>>>,
}

impl Default for TemplateCache {
    fn default() -> TemplateCache {
        TemplateCache {
            texts: Mutex::new(Recent::new(MAX_TEXT_BYTES)),
            templates: Mutex::new(Recent::new(MAX_TEMPLATE_BYTES)),
        }
    }
}

/// Prints no entries: they may contain secrets.
impl fmt::Debug for TemplateCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateCache").finish_non_exhaustive()
    }
}

impl TemplateCache {
    /// The text of a hash.
    pub(crate) fn text(&self, hash: Hash) -> Option<Arc<str>> {
        lock(&self.texts).get(&hash)
    }

    /// Adds a text.
    pub(crate) fn keep_text(&self, hash: Hash, text: &Arc<str>) {
        lock(&self.texts).insert(hash, text.clone(), text.len());
    }

    /// The template of a text, which `read` reads if it is not cached.
    pub(crate) fn template(
        &self,
        text: &Arc<str>,
        read: impl FnOnce() -> Result<Template, String>,
    ) -> Result<Arc<Template>, String> {
        if let Some(template) = lock(&self.templates).get(text) {
            return Ok(template);
        }
        let template = Arc::new(read()?);
        lock(&self.templates).insert(
            text.clone(),
            template.clone(),
            TEMPLATE_BYTES_PER_TEXT_BYTE * text.len(),
        );
        Ok(template)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Recently used entries, bounded in bytes.
struct Recent<K, V> {
    capacity: usize,
    weight: usize,
    /// The number of uses so far.
    uses: u64,
    entries: HashMap<K, Entry<V>>,
    /// The keys in the order of their last uses.
    order: BTreeMap<u64, K>,
}

struct Entry<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<K: Clone + Eq + Key, V: Clone> Recent<K, V> {
    fn new(capacity: usize) -> Recent<K, V> {
        let (entries, order) = (HashMap::new(), BTreeMap::new());
        Recent { capacity, weight: 0, uses: 0, entries, order }
    }

    fn get(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.get_mut(key)?;
        self.uses += 1;
        if let Some(key) = self.order.remove(&entry.used) {
            self.order.insert(self.uses, key);
        }
        entry.used = self.uses;
        Some(entry.value.clone())
    }

    /// Adds an entry, unless it exists or would take a large part of the capacity.
    fn insert(&mut self, key: K, value: V, weight: usize) {
        if weight > self.capacity / 4 || self.entries.contains_key(&key) {
            return;
        }
        while self.weight + weight > self.capacity
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.weight -= self.entries.remove(&oldest).map_or(0, |entry| entry.weight);
        }
        self.uses += 1;
        self.weight += weight;
        self.order.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { value, weight, used: self.uses });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_longest_goes_first() {
        let mut recent = Recent::new(100);
        for (key, weight) in [("a", 25), ("b", 25), ("c", 25), ("d", 25)] {
            recent.insert(key, key, weight);
        }
        assert_eq!(recent.get(&"a"), Some("a"));
        recent.insert("e", "e", 10);
        recent.insert("too large", "x", 26);
        let kept: Vec<_> = recent.order.values().copied().collect();
        assert_eq!(kept, ["c", "d", "a", "e"]);
        assert_eq!((recent.weight, recent.entries.len()), (85, 4));
        // What is there already stays as it is.
        recent.insert("e", "other", 20);
        assert_eq!((recent.get(&"e"), recent.weight), (Some("e"), 85));
    }

    #[test]
    fn a_text_is_read_once() {
        let (cache, mut reads) = (TemplateCache::default(), 0);
        for _ in 0..3 {
            // The same words, in another place in memory.
            let text: Arc<str> = "a template".to_owned().into();
            let template = cache.template(&text, || {
                reads += 1;
                Err("no such thing".to_owned())
            });
            assert!(template.is_err());
        }
        assert_eq!(reads, 3, "what cannot be read is not kept");
    }
}
