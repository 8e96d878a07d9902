//! Lists, and changes by position that work on any collection.

use crate::arguments::Arguments;
use crate::error::{Error, ErrorKind};
use crate::iterate::{BoundedIter, Iter};
use crate::python::boundary;
use crate::signature::{Default, Function, Parameter, Type, any, f, int, iter, m, typed};
use crate::value::Value;

const fn count() -> Parameter {
    int("count").or(Default::Int(1))
}

pub(crate) static TABLE: &[Function] = &[
    m("delete", &[iter("collection"), int("position"), count()], delete),
    m("flatten", &[iter("collection")], flatten),
    m("insert", &[typed("collection", Type::Sequence), int("position"), any("value")], insert_list),
    m("insert", &[typed("collection", Type::Stream), int("position"), any("value")], insert),
    m("insertMany", &[iter("collection"), int("position"), iter("values")], insert_many),
    f("list", &[any("args").rest()], list),
    m("replace", &[iter("collection"), int("position"), any("value"), count()], replace),
    m("replaceMany", &[iter("collection"), int("position"), iter("values"), count()], replace_many),
    m("toList", &[iter("collection")], to_list),
];

/// The arguments with iterators taken apart.
pub(crate) fn unpacked(args: &mut Arguments<'_>) -> Result<Vec<Value>, Error> {
    let limit = args.machine.options.limit_iterators;
    let mut members = Vec::new();
    for value in args.values(0) {
        if Type::Iterator.accepts(&value) {
            members.extend(args.machine.walk(&value)?.collect(args.machine)?);
        } else {
            members.push(value);
        }
        if members.len() > limit {
            return Err(ErrorKind::CollectionTooLarge(limit).into());
        }
    }
    Ok(members)
}

fn list(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Value::sequence(unpacked(args)?, true)
}

fn to_list(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Value::sequence(args.walk(0)?.collect(args.machine)?, true)
}

fn flatten(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut stack = vec![args.walk(0)?];
    Ok(Iter::over(move |machine| {
        while let Some(walk) = stack.last_mut() {
            match walk.next(machine)? {
                Some(member) if Type::Iterable.accepts(&member) => {
                    stack.push(machine.walk(&member)?);
                }
                Some(member) => return Ok(Some(member)),
                None => {
                    stack.pop();
                }
            }
        }
        Ok(None)
    }))
}

fn insert_list(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut members = match args.value(0) {
        Value::List(list) => list.items().to_vec(),
        _ => Vec::new(),
    };
    let position = boundary(args.index(1)?, members.len());
    members.insert(position, args.value(2));
    Value::sequence(members, true)
}

fn insert(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (walk, position, value) = (args.walk(0)?, args.index(1)?, args.value(2));
    let values = Value::sequence(vec![value], true)?;
    let values = args.machine.walk(&values)?;
    Ok(inserting(walk, position, values))
}

fn insert_many(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (walk, position, values) = (args.walk(0)?, args.index(1)?, args.walk(2)?);
    Ok(inserting(walk, position.max(0), values))
}

/// Members with others before the one at a position, or after the last one.
fn inserting(mut walk: BoundedIter, position: i64, values: BoundedIter) -> Value {
    let mut values = Some(values);
    let mut at = 0;
    let mut held: Option<Value> = None;
    let mut over = false;
    Iter::over(move |machine| {
        if held.is_none() && !over {
            held = walk.next(machine)?;
            over = held.is_none();
            at += i64::from(!over);
        }
        // `at` is one more than the index of the member that is held.
        let here = if over { position >= at } else { position == at - 1 };
        if here && let Some(inserted) = &mut values {
            match inserted.next(machine)? {
                Some(value) => return Ok(Some(value)),
                None => values = None,
            }
        }
        Ok(held.take())
    })
}

/// Whether an index is in a run that begins at a position; a negative count never ends.
fn within(at: i64, position: i64, count: i64) -> bool {
    at >= position && (count < 0 || at < position.saturating_add(count))
}

fn delete(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, position, count) = (args.walk(0)?, args.index(1)?, args.index(2)?);
    let mut at = -1;
    Ok(Iter::over(move |machine| {
        while let Some(member) = walk.next(machine)? {
            at += 1;
            if !within(at, position, count) {
                return Ok(Some(member));
            }
        }
        Ok(None)
    }))
}

fn replace(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (walk, position, value) = (args.walk(0)?, args.index(1)?, args.value(2));
    let values = Value::sequence(vec![value], true)?;
    let values = args.machine.walk(&values)?;
    let count = args.index(3)?;
    Ok(replacing(walk, position, values, count))
}

fn replace_many(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (walk, position, values) = (args.walk(0)?, args.index(1)?, args.walk(2)?);
    let count = args.index(3)?;
    Ok(replacing(walk, position, values, count))
}

/// Members with a run of them replaced by others.
fn replacing(mut walk: BoundedIter, position: i64, mut values: BoundedIter, count: i64) -> Value {
    let mut at = -1;
    // Whether the others are being returned.
    let mut giving = false;
    let mut supplied = false;
    Iter::over(move |machine| {
        loop {
            if giving {
                match values.next(machine)? {
                    Some(value) => return Ok(Some(value)),
                    None => giving = false,
                }
            }
            let Some(member) = walk.next(machine)? else {
                return Ok(None);
            };
            at += 1;
            if !within(at, position, count) {
                return Ok(Some(member));
            }
            giving = !std::mem::replace(&mut supplied, true);
        }
    })
}
