//! Merging maps deeply.

use crate::arguments::Arguments;
use crate::collections::{Key, Map, Set};
use crate::context::Lambda;
use crate::error::Error;
use crate::machine::Machine;
use crate::signature::{Default, Function, int, lambda, m, map};
use crate::value::Value;
use std::sync::Arc;

pub(crate) static TABLE: &[Function] = &[m(
    "mergeWith",
    &[
        map("dict"),
        map("another"),
        lambda("listMerger").or(Default::Null),
        lambda("itemMerger").or(Default::Null),
        int("maxLevels").or(Default::Int(0)),
    ],
    merge_with,
)];

struct Merger<'a> {
    machine: &'a Machine<'a>,
    lists: Option<Lambda>,
    items: Option<Lambda>,
}

fn merge_with(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (left, right) = (args.map(0)?, args.map(1)?);
    let (lists, items) = (args.lambda_or_none(2), args.lambda_or_none(3));
    let levels = args.index(4)?;
    Merger { machine: args.machine, lists, items }.maps(&left, &right, levels)
}

impl Merger<'_> {
    /// Merges maps; `levels` is how many are left, and zero if that does not matter.
    fn maps(&self, left: &Map, right: &Map, levels: i64) -> Result<Value, Error> {
        self.machine.nested(|| {
            let mut merged = left.clone();
            for (key, theirs) in right.iter() {
                self.machine.charge(1)?;
                let value = match left.get(key) {
                    Some(ours) => self.values(ours, theirs, levels)?,
                    None => theirs.clone(),
                };
                merged.insert(Key::new(key.clone())?, value)?;
            }
            Ok(Value::Map(Arc::new(merged)))
        })
    }

    fn values(&self, ours: &Value, theirs: &Value, levels: i64) -> Result<Value, Error> {
        match (ours, theirs) {
            (Value::Map(ours), Value::Map(theirs)) if levels != 1 => {
                self.maps(ours, theirs, (levels - 1).max(0))
            }
            (Value::List(_), Value::List(_)) if levels != 1 => match &self.lists {
                Some(merger) => self.machine.apply(merger, vec![ours.clone(), theirs.clone()]),
                None => self.lists(ours, theirs),
            },
            (_, Value::Map(_) | Value::List(_)) if levels != 1 => {
                Err(Error::type_(format!("Cannot merge {} with {}", class(ours), class(theirs))))
            }
            _ => match &self.items {
                Some(merger) => self.machine.apply(merger, vec![ours.clone(), theirs.clone()]),
                None => Ok(theirs.clone()),
            },
        }
    }

    /// One list after the other, without repeats.
    fn lists(&self, ours: &Value, theirs: &Value) -> Result<Value, Error> {
        let mut members = Set::default();
        for list in [ours, theirs] {
            let mut walk = self.machine.walk(list)?;
            while let Some(member) = walk.next(self.machine)? {
                members.insert(Key::new(member)?)?;
            }
        }
        Value::sequence(members.iter().cloned().collect(), true)
    }
}

/// The class of a value as the reference shows it.
fn class(value: &Value) -> String {
    match value {
        Value::Map(_) => "<class 'yaql.language.utils.FrozenDict'>".into(),
        other => format!("<class '{}'>", other.type_name()),
    }
}
