//! Maps and sets over values, in order of insertion.
//!
//! Keys and members are hashable in the sense of the reference: no lists (as apart from tuples).

use crate::dispose::dispose;
use crate::equality::{equal, hash, hash_text, hashable};
use crate::error::Error;
use crate::value::{Shape, Value};
use indexmap::{Equivalent, IndexMap, IndexSet};
use std::hash::{Hash, Hasher};

/// A value that can be a key of a map or a member of a set.
#[derive(Clone, Debug)]
pub struct Key(Value);

impl Key {
    /// The value as a key, unless it cannot be one.
    pub fn new(value: Value) -> Result<Key, Error> {
        hashable(&value)?;
        Ok(Key(value))
    }

    /// The value.
    pub fn value(&self) -> &Value {
        &self.0
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        equal(&self.0, &other.0)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash(&self.0, state);
    }
}

/// A value to look for among keys, without making a key of it.
struct Sought<'a>(&'a Value);

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash(self.0, state);
    }
}

impl Equivalent<Key> for Sought<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        equal(self.0, &key.0)
    }
}

/// A text to look for among keys.
struct SoughtText<'a>(&'a str);

impl Hash for SoughtText<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_text(self.0, state);
    }
}

impl Equivalent<Key> for SoughtText<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        matches!(&key.0, Value::Text(text) if **text == *self.0)
    }
}

/// A map in order of insertion.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: IndexMap<Key, Value>,
    shape: Shape,
}

impl Map {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Value, &Value)> {
        self.entries.iter().map(|(key, value)| (key.value(), value))
    }

    /// The value under a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.entries.get(&Sought(key))
    }

    /// The value under a text.
    pub fn get_text(&self, key: &str) -> Option<&Value> {
        self.entries.get(&SoughtText(key))
    }

    pub(crate) fn insert(&mut self, key: Key, value: Value) -> Result<(), Error> {
        self.shape = self.shape.with(key.0.shape()).with(value.shape()).checked()?;
        self.entries.insert(key, value);
        Ok(())
    }

    /// Inserts data from outside, whose depth is checked when an evaluation begins.
    pub(crate) fn insert_text(&mut self, key: std::sync::Arc<str>, value: Value) {
        self.shape = self.shape.with(value.shape());
        self.entries.insert(Key(Value::Text(key)), value);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&Value) -> bool) {
        self.entries.retain(|key, _| keep(key.value()));
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { depth: self.shape.depth.max(1), ..self.shape }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        dispose(std::mem::take(&mut self.entries));
    }
}

/// A set in order of insertion.
#[derive(Clone, Debug, Default)]
pub struct Set {
    members: IndexSet<Key>,
    shape: Shape,
}

impl Set {
    pub(crate) fn new(members: impl IntoIterator<Item = Value>) -> Result<Set, Error> {
        let mut set = Set::default();
        for member in members {
            set.insert(Key::new(member)?)?;
        }
        Ok(set)
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members in order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.members.iter().map(Key::value)
    }

    /// Whether the value is a member.
    pub fn contains(&self, value: &Value) -> bool {
        self.members.contains(&Sought(value))
    }

    pub(crate) fn at(&self, index: usize) -> Option<&Value> {
        self.members.get_index(index).map(Key::value)
    }

    /// Adds a member; false if it was there.
    pub(crate) fn insert(&mut self, member: Key) -> Result<bool, Error> {
        self.shape = self.shape.with(member.0.shape()).checked()?;
        Ok(self.members.insert(member))
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { depth: self.shape.depth.max(1), ..self.shape }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        dispose(std::mem::take(&mut self.members));
    }
}
