//! Maps.

use crate::arguments::{Arguments, Slot};
use crate::collections::{Key, Map, Set};
use crate::equality::hashable;
use crate::error::Error;
use crate::machine::Machine;
use crate::signature::{Default, Function, Type, any, f, iter, lambda, m, map, typed};
use crate::value::{Value, View, ViewKind};
use std::sync::Arc;

pub(crate) static TABLE: &[Function] = &[
    m("containsKey", &[map("dict"), any("key")], contains_key),
    m("containsValue", &[map("dict"), any("value")], contains_value),
    m("delete", &[map("dict"), any("keys").rest()], delete),
    m("deleteAll", &[map("dict"), iter("keys")], delete_all),
    f("dict", &[typed("args", Type::Pair).rest()], dict).with_pairs(),
    f("dict", &[iter("items")], dict_of_items).with_pairs(),
    m("get", &[map("dict"), any("key"), any("default").or(Default::Null)], get),
    m("items", &[map("dict")], |args| view(args, ViewKind::Items)),
    m("keys", &[map("dict")], |args| view(args, ViewKind::Keys)),
    m("set", &[map("dict"), any("key"), any("value")], set).with_pairs(),
    m("set", &[map("dict"), map("replacements")], set_many).with_pairs(),
    m("set", &[map("dict"), typed("args", Type::Pair).rest()], set_pairs).with_pairs(),
    m(
        "toDict",
        &[iter("collection"), lambda("keySelector"), lambda("valueSelector").or(Default::Null)],
        to_dict,
    ),
    m("values", &[map("dict")], |args| view(args, ViewKind::Values)),
];

fn view(args: &mut Arguments<'_>, part: ViewKind) -> Result<Value, Error> {
    Ok(Value::View(View { map: args.map(0)?, part }))
}

fn pairs(slots: Vec<Slot>) -> impl Iterator<Item = (Value, Value)> {
    slots.into_iter().filter_map(|slot| match slot {
        Slot::Pair(key, value) => Some((key, value)),
        _ => None,
    })
}

fn with(map: Map, pairs: impl Iterator<Item = (Value, Value)>) -> Result<Value, Error> {
    let mut map = map;
    for (key, value) in pairs {
        map.insert(Key::new(key)?, value)?;
    }
    Ok(Value::Map(Arc::new(map)))
}

fn dict(args: &mut Arguments<'_>) -> Result<Value, Error> {
    with(Map::default(), pairs(args.rest(0)))
}

fn dict_of_items(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let mut map = Map::default();
    while let Some(item) = walk.next(args.machine)? {
        let (key, value) = key_and_value(args.machine, &item)?;
        map.insert(Key::new(key)?, value)?;
    }
    Ok(Value::Map(Arc::new(map)))
}

/// The first two members of any value that the reference can iterate over.
fn key_and_value(machine: &Machine<'_>, item: &Value) -> Result<(Value, Value), Error> {
    let two = match item {
        Value::Text(text) => text.chars().take(2).map(|c| c.to_string().into()).collect(),
        Value::Map(map) => map.iter().take(2).map(|(key, _)| key.clone()).collect(),
        other => {
            let mut walk = machine.walk(other)?;
            let mut two = Vec::new();
            while two.len() < 2
                && let Some(member) = walk.next(machine)?
            {
                two.push(member);
            }
            two
        }
    };
    let mut two = two.into_iter();
    match (two.next(), two.next()) {
        (Some(key), Some(value)) => Ok((key, value)),
        _ => Err(Error::stop("")),
    }
}

fn to_dict(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, key, value) = (args.walk(0)?, args.lambda(1)?, args.lambda_or_none(2));
    let mut map = Map::default();
    while let Some(member) = walk.next(args.machine)? {
        let key = args.machine.apply(&key, vec![member.clone()])?;
        let value = match &value {
            Some(selector) => args.machine.apply(selector, vec![member])?,
            None => member,
        };
        map.insert(Key::new(key)?, value)?;
    }
    Ok(Value::Map(Arc::new(map)))
}

fn get(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, key, default) = (args.map(0)?, args.value(1), args.value(2));
    hashable(&key)?;
    Ok(map.get(&key).cloned().unwrap_or(default))
}

fn set(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, key, value) = (args.map(0)?, args.value(1), args.value(2));
    with((*map).clone(), [(key, value)].into_iter())
}

fn set_many(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, more) = (args.map(0)?, args.map(1)?);
    with((*map).clone(), more.iter().map(|(key, value)| (key.clone(), value.clone())))
}

fn set_pairs(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let map = args.map(0)?;
    with((*map).clone(), pairs(args.rest(1)))
}

fn contains_key(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, key) = (args.map(0)?, args.value(1));
    hashable(&key)?;
    Ok(map.get(&key).is_some().into())
}

fn contains_value(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, value) = (args.map(0)?, args.value(1));
    Ok(map.iter().any(|(_, found)| *found == value).into())
}

fn without(map: &Map, keys: Vec<Value>) -> Result<Value, Error> {
    let mut map = map.clone();
    let unwanted = Set::new(keys)?;
    map.retain(|key| !unwanted.contains(key));
    Ok(Value::Map(Arc::new(map)))
}

fn delete(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let map = args.map(0)?;
    without(&map, args.values(1))
}

fn delete_all(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, keys) = (args.map(0)?, args.walk(1)?.collect(args.machine)?);
    without(&map, keys)
}
