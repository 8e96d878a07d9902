//! Results: from values of an evaluation to plain values, and from those to plain data.

use crate::collections::{Key, Map, Set};
use crate::error::{Error, ErrorKind};
use crate::integer::Integer;
use crate::machine::Machine;
use crate::python;
use crate::render;
use crate::value::{Value, ViewKind};
use std::sync::Arc;

/// Data without anything that JSON lacks, apart from the size of integers and odd floats.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number of any size.
    Int(Integer),
    /// A double, perhaps not a number or infinite.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Vec<Data>),
    /// A map in order; no key twice.
    Map(Vec<(Arc<str>, Data)>),
}

impl Value {
    /// The value as plain data, the way results of the reference are written out.
    ///
    /// Sets become lists, dates become text, keys of maps become text. Spans, regular expressions
    /// and contexts are rejected.
    ///
    /// ```
    /// use kiln_yaql::{Data, Expression, Options, Value};
    ///
    /// let date = Expression::parse("datetime(2020, 1, 2)").unwrap();
    /// let date = date.evaluate(Value::Null, &Options::default()).unwrap();
    /// assert_eq!(date.to_data().unwrap(), Data::Text("2020-01-02T00:00:00.000000".into()));
    ///
    /// let span = Expression::parse("timespan(days => 1)").unwrap();
    /// let span = span.evaluate(Value::Null, &Options::default()).unwrap();
    /// assert_eq!(span.to_data().unwrap_err().to_string(), "A timespan cannot be part of a result");
    /// ```
    pub fn to_data(&self) -> Result<Data, Error> {
        let list = |items: &mut dyn Iterator<Item = &Value>| {
            items.map(Value::to_data).collect::<Result<_, _>>().map(Data::List)
        };
        Ok(match self {
            Value::Null => Data::Null,
            Value::Bool(truth) => Data::Bool(*truth),
            Value::Int(number) => Data::Int(number.clone()),
            Value::Float(number) => Data::Float(*number),
            Value::Text(text) => Data::Text(text.clone()),
            Value::List(items) => list(&mut items.items().iter())?,
            Value::Set(members) => list(&mut members.iter())?,
            Value::View(view) => list(&mut view.members().iter())?,
            Value::Map(map) => {
                let mut entries: Vec<(Arc<str>, Data)> = Vec::with_capacity(map.len());
                for (key, value) in map.iter() {
                    entries.push((key_text(key)?, value.to_data()?));
                }
                Data::Map(without_repeats(entries))
            }
            Value::Date(date) => Data::Text(date.to_json().into()),
            Value::Gap => Data::Map(Vec::new()),
            Value::Span(_) => return Err(ErrorKind::NotData("A timespan").into()),
            Value::Regex(_) => return Err(ErrorKind::NotData("A regular expression").into()),
            Value::Context(_) => return Err(ErrorKind::NotData("A context").into()),
            Value::Iterator(_) | Value::Lazy(_) => {
                return Err(ErrorKind::NotData("An iterator").into());
            }
        })
    }
}

impl From<Data> for Value {
    fn from(data: Data) -> Value {
        match data {
            Data::Null => Value::Null,
            Data::Bool(truth) => Value::Bool(truth),
            Data::Int(number) => Value::Int(number),
            Data::Float(number) => Value::Float(number),
            Data::Text(text) => Value::Text(text),
            Data::List(items) => Value::list(items.into_iter().map(Value::from)),
            Data::Map(entries) => {
                Value::map(entries.into_iter().map(|(key, value)| (key, value.into())))
            }
        }
    }
}

fn key_text(key: &Value) -> Result<Arc<str>, Error> {
    Ok(match key {
        Value::Text(text) => text.clone(),
        Value::Null => "null".into(),
        Value::Bool(true) => "true".into(),
        Value::Bool(false) => "false".into(),
        Value::Int(number) => render::integer(number)?.into(),
        Value::Float(number) => python::float(*number).into(),
        other => {
            return Err(Error::type_(format!(
                "keys must be str, int, float, bool or None, not {}",
                other.type_name()
            )));
        }
    })
}

/// Keys that differ as values can be the same as text: the last one counts.
fn without_repeats(entries: Vec<(Arc<str>, Data)>) -> Vec<(Arc<str>, Data)> {
    let unique: indexmap::IndexMap<Arc<str>, Data> = entries.into_iter().collect();
    unique.into_iter().collect()
}

/// Makes a result of an evaluation independent of it: walks iterators, and rejects what is too
/// long.
pub(crate) fn finish(machine: &Machine<'_>, value: Value) -> Result<Value, Error> {
    machine.charge(1)?;
    let limit = machine.options.limit_iterators;
    let short = |length: usize| -> Result<(), Error> {
        if length > limit { Err(ErrorKind::CollectionTooLarge(limit).into()) } else { Ok(()) }
    };
    match &value {
        Value::Map(map) => {
            short(map.len())?;
            machine.nested(|| {
                let mut out = Map::default();
                for (key, value) in map.iter() {
                    let key = hashable(finish(machine, key.clone())?)?;
                    out.insert(key, finish(machine, value.clone())?)?;
                }
                Ok(Value::Map(Arc::new(out)))
            })
        }
        Value::Set(_) => finish_set(machine, &value),
        Value::View(view) if view.part != ViewKind::Values => finish_set(machine, &value),
        Value::List(_) | Value::Iterator(_) | Value::Lazy(_) | Value::View(_) => {
            machine.nested(|| {
                let mut walk = machine.walk(&value)?;
                let mut out = Vec::new();
                while let Some(member) = walk.next(machine)? {
                    out.push(finish(machine, member)?);
                }
                Value::sequence(out, true)
            })
        }
        _ => Ok(value),
    }
}

fn finish_set(machine: &Machine<'_>, value: &Value) -> Result<Value, Error> {
    machine.nested(|| {
        let mut walk = machine.walk(value)?;
        let mut out = Set::default();
        while let Some(member) = walk.next(machine)? {
            out.insert(hashable(finish(machine, member)?)?)?;
        }
        Ok(Value::Set(Arc::new(out)))
    })
}

/// In a result of the reference every container is of the kind that can be no key.
fn hashable(value: Value) -> Result<Key, Error> {
    let kind = match &value {
        Value::List(_) => "list",
        Value::Map(_) => "dict",
        Value::Set(_) => "set",
        _ => return Key::new(value),
    };
    Err(Error::type_(format!("unhashable type: '{kind}'")))
}
