//! Queries over collections that come to one value.

use super::numbers::{larger, smaller};
use crate::arguments::Arguments;
use crate::error::Error;
use crate::iterate::{BoundedIter, Iter};
use crate::signature::{Default, Function, Parameter, Type, any, b, iter, lambda, m, map, typed};
use crate::syntax::Binary;
use crate::value::Value;

const PREDICATE: &[Parameter] = &[iter("collection"), lambda("predicate")];
const MAYBE: &[Parameter] = &[iter("collection"), lambda("predicate").or(Default::Null)];
const FOLD: &[Parameter] =
    &[iter("collection"), lambda("selector"), any("seed").or(Default::Unset)];
const INITIAL: &[Parameter] = &[iter("collection"), any("initial").or(Default::Unset)];
const DEFAULT: &[Parameter] = &[iter("collection"), any("default").or(Default::Unset)];
const ITEM: &[Parameter] = &[iter("collection"), any("item")];

pub(crate) static TABLE: &[Function] = &[
    m("accumulate", FOLD, accumulate),
    m("aggregate", FOLD, aggregate),
    b("all", MAYBE, all),
    b("any", MAYBE, any_),
    m("contains", &[iter("collection"), any("value")], contains),
    m("count", &[iter("collection")], count),
    m("first", DEFAULT, first),
    m("indexOf", ITEM, |args| index_of(args, false)),
    m("indexWhere", PREDICATE, |args| index_where(args, false)),
    m("last", DEFAULT, last),
    m("lastIndexOf", ITEM, |args| index_of(args, true)),
    m("lastIndexWhere", PREDICATE, |args| index_where(args, true)),
    b("len", &[typed("collection", Type::Iterator)], len_iterator),
    b("len", &[map("dict")], |args| Ok(args.map(0)?.len().into())),
    b("len", &[typed("sequence", Type::Sequence)], len_list),
    b("len", &[typed("set", Type::Set)], len_set),
    m("max", INITIAL, |args| fold(args, larger)),
    m("min", INITIAL, |args| fold(args, smaller)),
    m("reduce", FOLD, aggregate),
    m("single", &[iter("collection")], single),
    m("sum", INITIAL, |args| fold(args, add)),
];

fn add(args: &Arguments<'_>, a: Value, b: Value) -> Result<Value, Error> {
    args.machine.operate(Binary::Add, a, b, args.context)
}

/// Puts members together two by two, beginning with the one given in parameter `initial`.
fn fold_from(
    args: &mut Arguments<'_>,
    mut walk: BoundedIter,
    initial: usize,
    mut step: impl FnMut(&Arguments<'_>, Value, Value) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let start = match args.optional(initial) {
        Some(value) => Some(value),
        None => walk.next(args.machine)?,
    };
    let Some(mut total) = start else {
        return Err(Error::type_("reduce() of empty iterable with no initial value"));
    };
    while let Some(member) = walk.next(args.machine)? {
        total = step(args, total, member)?;
    }
    Ok(total)
}

fn fold(
    args: &mut Arguments<'_>,
    step: fn(&Arguments<'_>, Value, Value) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let walk = args.walk(0)?;
    fold_from(args, walk, 1, step)
}

fn aggregate(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (walk, selector) = (args.walk(0)?, args.lambda(1)?);
    fold_from(args, walk, 2, |args, a, b| args.machine.apply(&selector, vec![a, b]))
}

fn accumulate(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, selector) = (args.walk(0)?, args.lambda(1)?);
    let mut start = args.optional(2);
    let mut total: Option<Value> = None;
    Ok(Iter::over(move |machine| {
        let next = match total.take() {
            None => match start.take() {
                Some(value) => value,
                None => walk.next(machine)?.ok_or_else(|| {
                    Error::type_("accumulate() of empty sequence with no initial value")
                })?,
            },
            Some(so_far) => match walk.next(machine)? {
                Some(member) => machine.apply(&selector, vec![so_far, member])?,
                None => {
                    total = Some(so_far);
                    return Ok(None);
                }
            },
        };
        total = Some(next.clone());
        Ok(Some(next))
    }))
}

fn any_(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, predicate) = (args.walk(0)?, args.lambda_or_none(1));
    while let Some(member) = walk.next(args.machine)? {
        let found = match &predicate {
            Some(predicate) => args.machine.apply(predicate, vec![member])?.truth(),
            None => true,
        };
        if found {
            return Ok(true.into());
        }
    }
    Ok(false.into())
}

fn all(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, predicate) = (args.walk(0)?, args.lambda_or_none(1));
    while let Some(member) = walk.next(args.machine)? {
        let holds = match &predicate {
            Some(predicate) => args.machine.apply(predicate, vec![member])?.truth(),
            None => member.truth(),
        };
        if !holds {
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

fn contains(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (collection, value) = (args.value(0), args.value(1));
    let found = super::operators::contains(args.machine, &value, &collection)?;
    Ok(found.unwrap_or(false).into())
}

fn counted(args: &Arguments<'_>, mut walk: BoundedIter) -> Result<Value, Error> {
    let mut count = 0_usize;
    while walk.next(args.machine)?.is_some() {
        count += 1;
    }
    Ok(count.into())
}

fn count(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let walk = args.walk(0)?;
    counted(args, walk)
}

/// The length of an iterator is not limited as other walks are.
fn len_iterator(args: &mut Arguments<'_>) -> Result<Value, Error> {
    match BoundedIter::new(&args.value(0), usize::MAX)? {
        Some(walk) => counted(args, walk),
        None => Ok(0.into()),
    }
}

fn len_list(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(match args.value(0) {
        Value::List(list) => list.items().len().into(),
        _ => Value::Null,
    })
}

fn len_set(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(match args.value(0) {
        Value::Set(set) => set.len().into(),
        Value::View(view) => view.map.len().into(),
        _ => Value::Null,
    })
}

fn first(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let first = args.walk(0)?.next(args.machine)?;
    first.or_else(|| args.optional(1)).ok_or_else(|| Error::stop(""))
}

fn last(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let mut last = None;
    while let Some(member) = walk.next(args.machine)? {
        last = Some(member);
    }
    last.or_else(|| args.optional(1)).ok_or_else(|| Error::stop(""))
}

fn single(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let Some(member) = walk.next(args.machine)? else {
        return Err(Error::stop(""));
    };
    match walk.next(args.machine)? {
        Some(_) => Err(Error::stop("Collection contains more than one item")),
        None => Ok(member),
    }
}

/// The index of a member that fits, -1 without one.
fn position(
    args: &Arguments<'_>,
    mut walk: BoundedIter,
    last: bool,
    fits: impl Fn(Value) -> Result<bool, Error>,
) -> Result<Value, Error> {
    let mut found = None;
    let mut at = 0_usize;
    while let Some(member) = walk.next(args.machine)? {
        if fits(member)? {
            found = Some(at);
            if !last {
                break;
            }
        }
        at += 1;
    }
    Ok(found.map_or((-1).into(), Value::from))
}

fn index_of(args: &mut Arguments<'_>, last: bool) -> Result<Value, Error> {
    let (walk, item) = (args.walk(0)?, args.value(1));
    position(args, walk, last, |member| Ok(member == item))
}

fn index_where(args: &mut Arguments<'_>, last: bool) -> Result<Value, Error> {
    let (walk, predicate) = (args.walk(0)?, args.lambda(1)?);
    position(args, walk, last, |member| Ok(args.machine.apply(&predicate, vec![member])?.truth()))
}
