//! An object of the cloud.

use std::ops::{Deref, DerefMut, Index};

use serde::{Deserialize, Serialize};
use serde_json::map::IntoIter;
use serde_json::{Map, Value};

/// The fields of an object, in order. Fields whose names begin with an underscore are internal and never rendered.
///
/// A missing field reads as null, because an administrator may have removed the field or the whole object in the
/// meantime.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Obj(Map<String, Value>);

static NOTHING: Value = Value::Null;

impl Obj {
    pub(super) fn new() -> Obj {
        Obj::default()
    }

    /// Sets an entry of a field that holds a map. A field that does not hold a map becomes one.
    pub(super) fn set_entry(&mut self, field: &str, name: &str, value: Value) {
        let mut entries = match self.0.get_mut(field) {
            Some(Value::Object(entries)) => std::mem::take(entries),
            _ => Map::new(),
        };
        entries.insert(name.to_owned(), value);
        self.0.insert(field.to_owned(), Value::Object(entries));
    }
}

impl Index<&str> for Obj {
    type Output = Value;

    fn index(&self, field: &str) -> &Value {
        self.0.get(field).unwrap_or(&NOTHING)
    }
}

impl Deref for Obj {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl DerefMut for Obj {
    fn deref_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.0
    }
}

impl From<Map<String, Value>> for Obj {
    fn from(fields: Map<String, Value>) -> Obj {
        Obj(fields)
    }
}

impl From<Obj> for Value {
    fn from(object: Obj) -> Value {
        Value::Object(object.0)
    }
}

impl FromIterator<(String, Value)> for Obj {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(fields: T) -> Obj {
        Obj(fields.into_iter().collect())
    }
}

impl IntoIterator for Obj {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Obj {
    type Item = (&'a String, &'a Value);
    type IntoIter = serde_json::map::Iter<'a>;

    fn into_iter(self) -> serde_json::map::Iter<'a> {
        self.0.iter()
    }
}
