//! The parts of a map, each taken once; what nobody takes is an error.

use crate::record::Unreadable;
use crate::record::value::{Id, Stored, StoredMembers};
use kiln_template::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// The parts of a map that were not taken yet. Null stands for a part that is missing.
pub(super) struct Fields {
    members: Members,
}

type Read<T> = Result<T, Unreadable>;

impl Fields {
    /// The parts of a map.
    pub(super) fn new(value: Value) -> Read<Fields> {
        match value {
            Value::Map(members) => Ok(Fields { members: Arc::unwrap_or_clone(members) }),
            _ => Err(Unreadable::malformed("it is not a map")),
        }
    }

    /// Every part must have been taken.
    pub(super) fn finish(self) -> Read<()> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(name) => Err(Unreadable::malformed(format!("there is no field {name:?}"))),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.members.swap_remove(name).filter(|value| !matches!(value, Value::Null))
    }

    /// A part that is converted, if it is there.
    pub(super) fn optional<T>(
        &mut self,
        name: &str,
        convert: impl FnOnce(Value) -> Read<T>,
    ) -> Read<Option<T>> {
        let value = self.take(name).map(convert).transpose();
        value.map_err(|error| error.within(name))
    }

    /// A part that must be there.
    pub(super) fn required<T>(
        &mut self,
        name: &str,
        convert: impl FnOnce(Value) -> Read<T>,
    ) -> Read<T> {
        let missing = || Unreadable::malformed(format!("the field {name:?} is missing"));
        self.optional(name, convert)?.ok_or_else(missing)
    }

    /// A flag; one that is missing is not set.
    pub(super) fn flag(&mut self, name: &str) -> Read<bool> {
        Ok(self.optional(name, flag)?.unwrap_or(false))
    }

    /// A count; one that is missing is 0.
    pub(super) fn count<T: TryFrom<i64> + Default>(&mut self, name: &str) -> Read<T> {
        Ok(self.optional(name, number)?.unwrap_or_default())
    }

    /// Any value; null if it is missing.
    pub(super) fn value(&mut self, name: &str) -> Stored {
        Stored(self.take(name).unwrap_or_default())
    }

    /// A map; one that is missing is empty.
    pub(super) fn members(&mut self, name: &str) -> Read<StoredMembers> {
        Ok(self.optional(name, members)?.unwrap_or_default())
    }

    /// A list; one that is missing is empty.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        convert: impl Fn(Value) -> Read<T>,
    ) -> Read<Vec<T>> {
        Ok(self.optional(name, |value| list(value, convert))?.unwrap_or_default())
    }
}

fn wrong<T>(what: &str) -> Read<T> {
    Err(Unreadable::malformed(format!("it is not {what}")))
}

pub(super) fn text(value: Value) -> Read<Arc<str>> {
    match value {
        Value::Text(text) => Ok(text),
        _ => wrong("a text"),
    }
}

pub(super) fn string(value: Value) -> Read<String> {
    Ok(text(value)?.to_string())
}

pub(super) fn flag(value: Value) -> Read<bool> {
    match value {
        Value::Bool(flag) => Ok(flag),
        _ => wrong("a flag"),
    }
}

pub(super) fn number<T: TryFrom<i64>>(value: Value) -> Read<T> {
    let number = match value {
        Value::Int(number) => number.as_i64().and_then(|number| T::try_from(number).ok()),
        _ => None,
    };
    number.map_or_else(|| wrong("a number of the right size"), Ok)
}

pub(super) fn id(value: Value) -> Read<Id> {
    let id = value.as_text().and_then(|text| Uuid::parse_str(text).ok());
    id.map_or_else(|| wrong("an id"), |id| Ok(Id(id)))
}

pub(super) fn members(value: Value) -> Read<StoredMembers> {
    match value {
        Value::Map(members) => Ok(StoredMembers(members)),
        _ => wrong("a map"),
    }
}

pub(super) fn list<T>(value: Value, convert: impl Fn(Value) -> Read<T>) -> Read<Vec<T>> {
    items(value)?.into_iter().map(convert).collect()
}

pub(super) fn items(value: Value) -> Read<Vec<Value>> {
    match value {
        Value::List(items) => Ok(Arc::unwrap_or_clone(items)),
        _ => wrong("a list"),
    }
}

/// A word that is stored by its name.
pub(super) fn word<W: crate::record::v1::names::Named>(
    value: Value,
) -> Read<crate::record::v1::names::Word<W>> {
    let name = text(value)?;
    match W::parse(&name) {
        Some(word) => Ok(crate::record::v1::names::Word(word)),
        None => Err(Unreadable::malformed(format!("there is no {} {name:?}", W::WHAT))),
    }
}
