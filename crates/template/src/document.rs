//! The tree that YAML and JSON are read into: plain data in which every node has its span.

use crate::print;
use crate::source::Span;
use crate::value::Value;
use kiln_yaql::Integer;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

/// A piece of a document and its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The text it was read from.
    pub span: Span,
    /// The content.
    pub data: Data,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Null, or nothing at all.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of any size.
    Int(Integer),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A sequence.
    List(Box<[Node]>),
    /// A mapping.
    Map(Map),
}

/// A mapping in the order of its document.
///
/// Keys are text and unique: the reader turns other scalars into text, and of equal keys keeps the
/// first one's position and the last one's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// The members.
    pub entries: Box<[Entry]>,
}

/// One member of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key as text.
    pub key: Arc<str>,
    /// The span of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Map {
    /// The value of a key. Linear: meant for maps with a known, small set of keys.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The member with a key. Linear: meant for maps with a known, small set of keys.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| &*entry.key == key)
    }

    /// Takes the value of a key out; null stays behind. Linear, as [`Map::get`].
    pub fn take(&mut self, key: &str) -> Option<Node> {
        let entry = self.entries.iter_mut().find(|entry| &*entry.key == key)?;
        let empty = Node::new(entry.value.span, Data::Null);
        Some(std::mem::replace(&mut entry.value, empty))
    }

    /// The members in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

/// Collects the members of a mapping under the rule for equal keys: the first one's position, the
/// last one's value. Takes constant time per member, however many there are.
#[derive(Debug, Default)]
pub(crate) struct MapBuilder {
    entries: Vec<Entry>,
    /// The index of each key in `entries`, once there are too many for a linear search.
    index: Option<Box<KeyIndex>>,
    /// Whether each of the first entries is still a default.
    defaults: Vec<bool>,
}

/// Up to this number of members a linear search is cheaper than hashing their keys.
const MAX_LINEAR_SEARCH: usize = 16;

impl MapBuilder {
    /// A builder with room for a number of members.
    #[inline]
    pub(crate) fn with_capacity(members: usize) -> MapBuilder {
        MapBuilder { entries: Vec::with_capacity(members), ..MapBuilder::default() }
    }

    /// Adds a member. If the key was there before, and not as a default, returns the member, whose
    /// key is the first one and whose value is the new one.
    #[inline]
    pub(crate) fn insert(&mut self, key: Arc<str>, key_span: Span, value: Node) -> Option<&Entry> {
        let Some(position) = self.find_or_insert(&key) else {
            self.entries.push(Entry { key, key_span, value });
            return None;
        };
        let entry = &mut self.entries[position];
        entry.value = value;
        if let Some(default @ true) = self.defaults.get_mut(position) {
            *default = false;
            entry.key_span = key_span;
            return None;
        }
        Some(entry)
    }

    /// Adds a member that a later one may replace without counting as a duplicate.
    pub(crate) fn insert_default(&mut self, key: Arc<str>, key_span: Span, value: Node) {
        match self.find_or_insert(&key) {
            Some(position) => {
                let entry = &mut self.entries[position];
                (entry.key_span, entry.value) = (key_span, value);
            }
            None => {
                self.entries.push(Entry { key, key_span, value });
                self.defaults.resize(self.entries.len(), true);
            }
        }
    }

    /// The finished mapping.
    #[inline]
    pub(crate) fn finish(self) -> Map {
        Map { entries: self.entries.into() }
    }

    /// The index of a key; a new key is recorded as the one that will be added next.
    #[inline]
    fn find_or_insert(&mut self, key: &str) -> Option<usize> {
        if self.entries.len() < MAX_LINEAR_SEARCH {
            return self.entries.iter().position(|entry| &*entry.key == key);
        }
        self.find_in_index(key)
    }

    #[inline(never)]
    fn find_in_index(&mut self, key: &str) -> Option<usize> {
        let index = self.index.get_or_insert_with(|| {
            let mut index = Box::new(KeyIndex::with_capacity(self.entries.capacity()));
            for position in 0..self.entries.len() {
                index.find_or_insert(&self.entries[position].key, &self.entries[..position]);
            }
            index
        });
        index.find_or_insert(key, &self.entries)
    }
}

/// An index of the keys: a hash table with open addressing that is at most half full. The
/// keys are hashed with a secret, so that no document can make them collide.
#[derive(Debug)]
struct KeyIndex {
    /// A part of the key's hash, and the key's index plus 1; zero if the slot is free.
    slots: Vec<(u32, u32)>,
    secret: RandomState,
}

impl KeyIndex {
    fn with_capacity(keys: usize) -> KeyIndex {
        let slots = (keys * 2).next_power_of_two().max(4 * MAX_LINEAR_SEARCH);
        KeyIndex { slots: vec![(0, 0); slots], secret: RandomState::new() }
    }

    /// The index of a key; a new key is recorded as the one after the entries.
    fn find_or_insert(&mut self, key: &str, entries: &[Entry]) -> Option<usize> {
        if entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = self.secret.hash_one(key) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (known, number) = self.slots[slot];
            if number == 0 {
                self.slots[slot] = (hash, entries.len() as u32 + 1);
                return None;
            }
            let position = number as usize - 1;
            if known == hash && entries.get(position).is_some_and(|entry| &*entry.key == key) {
                return Some(position);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let slots = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (hash, number) in slots.into_iter().filter(|(_, number)| *number != 0) {
            let mut slot = hash as usize & (size - 1);
            while self.slots[slot].1 != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = (hash, number);
        }
    }
}

/// How a document made of a value represents the secrets in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretHandling {
    /// As asterisks: the document is only validated.
    Mask,
    /// In clear: the document is evaluated, and must not be displayed.
    Expose,
}

impl Node {
    /// A node.
    pub fn new(span: Span, data: Data) -> Node {
        Node { span, data }
    }

    /// A document made of a value; every node has the same span.
    pub fn from_value(value: &Value, span: Span, secrets: SecretHandling) -> Node {
        let nested = |value: &Value| Node::from_value(value, span, secrets);
        let data = match value {
            Value::Null | Value::Unknown(_) => Data::Null,
            Value::Bool(flag) => Data::Bool(*flag),
            Value::Int(number) => Data::Int(number.clone()),
            Value::Float(number) => Data::Float(*number),
            Value::Text(text) => Data::Text(text.clone()),
            Value::List(items) => Data::List(items.iter().map(nested).collect()),
            Value::Map(members) => {
                let entry = |(key, value): (&Arc<str>, &Value)| Entry {
                    key: key.clone(),
                    key_span: span,
                    value: nested(value),
                };
                Data::Map(Map { entries: members.iter().map(entry).collect() })
            }
            Value::Secret(secret) if secrets == SecretHandling::Expose => {
                return nested(secret.expose());
            }
            Value::Secret(_) => Data::Text(print::HIDDEN.into()),
        };
        Node { span, data }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The mapping, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The members, if it is a sequence.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    #[test]
    fn equal_keys_keep_the_first_position_and_the_last_value() {
        let file = Sources::new().add("a", "");
        let at = |start| Span::new(file, start, start + 1);
        let mut members = MapBuilder::default();
        for n in 0..100 {
            let value = Node::new(at(n), Data::Int((n as i64).into()));
            assert_eq!(members.insert(format!("k{n}").into(), at(n), value), None);
        }
        for n in [3, 50] {
            let value = Node::new(at(n), Data::Null);
            let before = members.insert(format!("k{n}").into(), at(1000), value);
            assert_eq!(before.map(|entry| entry.key_span), Some(at(n)));
        }
        let map = members.finish();
        assert_eq!(map.len(), 100);
        assert_eq!(&*map.entries[3].key, "k3");
        assert!(map.entries[3].value.is_null() && map.entries[50].value.is_null());
    }
}
