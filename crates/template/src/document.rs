//! The tree that YAML and JSON are read into: plain data in which every node knows its place.

use crate::print;
use crate::source::Span;
use crate::value::Value;
use kiln_yaql::Integer;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

/// A piece of a document and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The text it was read from.
    pub span: Span,
    /// What it says.
    pub data: Data,
}

/// What a node says.
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
/// first one's place and the last one's value.
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
    /// Where the key stands.
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

/// Collects the members of a mapping under the rule for equal keys: the first one's place, the last
/// one's value. Takes constant time a member however many there are.
#[derive(Debug, Default)]
pub struct MapBuilder {
    entries: Vec<Entry>,
    /// Where each key is in `entries`, once there are too many to look through.
    places: Option<Box<Places>>,
    /// Whether each of the first entries is still a default.
    defaults: Vec<bool>,
}

/// Up to here looking through the members is cheaper than hashing their keys.
const FEW: usize = 16;

impl MapBuilder {
    /// An empty one with room for so many members.
    #[inline]
    pub fn with_capacity(members: usize) -> MapBuilder {
        MapBuilder { entries: Vec::with_capacity(members), ..MapBuilder::default() }
    }

    /// Adds a member. If the key was there before, and not as a default, gives the member, whose
    /// key is the first one and whose value is the new one.
    #[inline]
    pub fn insert(&mut self, key: Arc<str>, key_span: Span, value: Node) -> Option<&Entry> {
        let Some(place) = self.find_or_note(&key) else {
            self.entries.push(Entry { key, key_span, value });
            return None;
        };
        let entry = &mut self.entries[place];
        entry.value = value;
        if let Some(default @ true) = self.defaults.get_mut(place) {
            *default = false;
            entry.key_span = key_span;
            return None;
        }
        Some(entry)
    }

    /// Adds a member that a later one may replace without that being a repetition.
    pub fn insert_default(&mut self, key: Arc<str>, key_span: Span, value: Node) {
        match self.find_or_note(&key) {
            Some(place) => {
                let entry = &mut self.entries[place];
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
    pub fn finish(self) -> Map {
        Map { entries: self.entries.into() }
    }

    /// Where a key is; if it is new, it is taken down as the one that will be added next.
    #[inline]
    fn find_or_note(&mut self, key: &str) -> Option<usize> {
        if self.entries.len() < FEW {
            return self.entries.iter().position(|entry| &*entry.key == key);
        }
        self.look_up(key)
    }

    #[inline(never)]
    fn look_up(&mut self, key: &str) -> Option<usize> {
        let places = self.places.get_or_insert_with(|| {
            let mut places = Box::new(Places::with_capacity(self.entries.capacity()));
            for place in 0..self.entries.len() {
                places.find_or_note(&self.entries[place].key, &self.entries[..place]);
            }
            places
        });
        places.find_or_note(key, &self.entries)
    }
}

/// Where keys are among the entries: a table with open addressing that is at most half full. The
/// keys are hashed with a secret, so that no document can make them collide.
#[derive(Debug)]
struct Places {
    /// A part of the key's hash, and its place from 1; zero if the slot is free.
    slots: Vec<(u32, u32)>,
    secret: RandomState,
}

impl Places {
    fn with_capacity(keys: usize) -> Places {
        let slots = (keys * 2).next_power_of_two().max(4 * FEW);
        Places { slots: vec![(0, 0); slots], secret: RandomState::new() }
    }

    /// Where a key is; if it is new, notes it as the one behind the entries.
    fn find_or_note(&mut self, key: &str, entries: &[Entry]) -> Option<usize> {
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
            let place = number as usize - 1;
            if known == hash && entries.get(place).is_some_and(|entry| &*entry.key == key) {
                return Some(place);
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

    /// A document made of a value; everything in it stands at one place.
    pub fn from_value(value: &Value, span: Span, secrets: SecretHandling) -> Node {
        let inside = |value: &Value| Node::from_value(value, span, secrets);
        let data = match value {
            Value::Null | Value::Unknown(_) => Data::Null,
            Value::Bool(flag) => Data::Bool(*flag),
            Value::Int(number) => Data::Int(number.clone()),
            Value::Float(number) => Data::Float(*number),
            Value::Text(text) => Data::Text(text.clone()),
            Value::List(items) => Data::List(items.iter().map(inside).collect()),
            Value::Map(members) => {
                let entry = |(key, value): (&Arc<str>, &Value)| Entry {
                    key: key.clone(),
                    key_span: span,
                    value: inside(value),
                };
                Data::Map(Map { entries: members.iter().map(entry).collect() })
            }
            Value::Secret(secret) if secrets == SecretHandling::Expose => {
                return inside(secret.expose());
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
    fn of_equal_keys_the_first_gives_the_place_and_the_last_the_value() {
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
