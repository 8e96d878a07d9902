//! Queries over collections that give members one after the other.

use crate::arguments::Arguments;
use crate::collections::{Key, Set};
use crate::error::Error;
use crate::iterate::{BoundedIter, Iter, Lazy};
use crate::signature::{Default, Function, Parameter, Type, any, b, int, iter, lambda, m};
use crate::value::Value;

const PREDICATE: &[Parameter] = &[iter("collection"), lambda("predicate")];
const SELECTOR: &[Parameter] = &[iter("collection"), lambda("selector")];
const COUNT: &[Parameter] = &[iter("collection"), int("count")];
const COLLECTION: &[Parameter] = &[iter("collection")];

pub(crate) static TABLE: &[Function] = &[
    b("append", &[iter("collection"), any("args").rest()], append),
    b("concat", &[iter("collections").rest()], concat),
    m("cycle", COLLECTION, cycle),
    m("defaultIfEmpty", &[iter("collection"), iter("default")], default_if_empty),
    b("distinct", &[iter("collection"), lambda("keySelector").or(Default::Null)], distinct),
    b("enumerate", &[iter("collection"), int("start").or(Default::Int(0)).nullable()], enumerate),
    m("filter", PREDICATE, where_),
    m(
        "join",
        &[iter("collection1"), iter("collection2"), lambda("predicate"), lambda("selector")],
        join,
    ),
    m("limit", COUNT, limit),
    m("map", SELECTOR, select),
    m("memorize", COLLECTION, memorize),
    m("repeat", &[any("value"), int("times").or(Default::Int(-1))], repeat),
    m("reverse", COLLECTION, reverse),
    m("select", SELECTOR, select),
    m("selectMany", SELECTOR, select_many),
    m("skip", COUNT, skip),
    m("skipWhile", PREDICATE, skip_while),
    m("take", COUNT, limit),
    m("takeWhile", PREDICATE, take_while),
    m("where", PREDICATE, where_),
    m("zip", &[iter("collections").rest()], zip),
    m("zipLongest", &[iter("collections").rest(), any("kwargs").keyword_rest()], zip_longest),
];

fn where_(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, predicate) = (args.walk(0)?, args.lambda(1)?);
    Ok(Iter::over(move |machine| {
        while let Some(member) = walk.next(machine)? {
            if machine.apply(&predicate, vec![member.clone()])?.truth() {
                return Ok(Some(member));
            }
        }
        Ok(None)
    }))
}

fn select(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, selector) = (args.walk(0)?, args.lambda(1)?);
    Ok(Iter::over(move |machine| match walk.next(machine)? {
        Some(member) => machine.apply(&selector, vec![member]).map(Some),
        None => Ok(None),
    }))
}

fn select_many(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, selector) = (args.walk(0)?, args.lambda(1)?);
    let mut inner: Option<BoundedIter> = None;
    Ok(Iter::over(move |machine| {
        loop {
            if let Some(current) = &mut inner {
                match current.next(machine)? {
                    Some(member) => return Ok(Some(member)),
                    None => inner = None,
                }
            }
            let Some(member) = walk.next(machine)? else {
                return Ok(None);
            };
            let many = machine.apply(&selector, vec![member])?;
            if !Type::Iterable.accepts(&many) {
                return Ok(Some(many));
            }
            inner = Some(machine.walk(&many)?);
        }
    }))
}

/// The number of members to take, which must not be negative.
pub(crate) fn stop(number: i64) -> Result<u64, Error> {
    // The reference words the first negative number differently.
    u64::try_from(number).map_err(|_| match number {
        -1 => Error::value(
            "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.",
        ),
        _ => Error::value(NEGATIVE),
    })
}

const NEGATIVE: &str = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.";

fn skip(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let mut left = u64::try_from(args.index(1)?).map_err(|_| Error::value(NEGATIVE))?;
    Ok(Iter::over(move |machine| {
        while left > 0 {
            left -= 1;
            if walk.next(machine)?.is_none() {
                left = 0;
                return Ok(None);
            }
        }
        walk.next(machine)
    }))
}

fn limit(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let mut left = stop(args.index(1)?)?;
    Ok(Iter::over(move |machine| {
        if left == 0 {
            return Ok(None);
        }
        left -= 1;
        walk.next(machine)
    }))
}

fn take_while(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, predicate) = (args.walk(0)?, args.lambda(1)?);
    let mut done = false;
    Ok(Iter::over(move |machine| {
        if done {
            return Ok(None);
        }
        let Some(member) = walk.next(machine)? else {
            return Ok(None);
        };
        done = !machine.apply(&predicate, vec![member.clone()])?.truth();
        Ok((!done).then_some(member))
    }))
}

fn skip_while(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, predicate) = (args.walk(0)?, args.lambda(1)?);
    let mut skipping = true;
    Ok(Iter::over(move |machine| {
        while let Some(member) = walk.next(machine)? {
            skipping = skipping && machine.apply(&predicate, vec![member.clone()])?.truth();
            if !skipping {
                return Ok(Some(member));
            }
        }
        Ok(None)
    }))
}

fn append(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let mut more = args.values(1).into_iter();
    Ok(Iter::over(move |machine| match walk.next(machine)? {
        Some(member) => Ok(Some(member)),
        None => Ok(more.next()),
    }))
}

/// Walks over all collections given for a parameter that takes the rest.
fn walks(args: &mut Arguments<'_>) -> Result<Vec<BoundedIter>, Error> {
    args.values(0).iter().map(|value| args.machine.walk(value)).collect()
}

fn concat(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walks = walks(args)?.into_iter();
    let mut current = walks.next();
    Ok(Iter::over(move |machine| {
        while let Some(walk) = &mut current {
            match walk.next(machine)? {
                Some(member) => return Ok(Some(member)),
                None => current = walks.next(),
            }
        }
        Ok(None)
    }))
}

fn distinct(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, selector) = (args.walk(0)?, args.lambda_or_none(1));
    let mut seen = Set::default();
    Ok(Iter::over(move |machine| {
        while let Some(member) = walk.next(machine)? {
            let key = match &selector {
                Some(selector) => machine.apply(selector, vec![member.clone()])?,
                None => member.clone(),
            };
            if seen.insert(Key::new(key)?)? {
                return Ok(Some(member));
            }
        }
        Ok(None)
    }))
}

fn enumerate(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let mut index = match args.value(1) {
        Value::Null => {
            return Err(Error::type_("unsupported operand type(s) for +: 'NoneType' and 'int'"));
        }
        Value::Int(start) => start,
        other => i64::from(other.truth()).into(),
    };
    Ok(Iter::over(move |machine| match walk.next(machine)? {
        Some(member) => {
            let next = &index + &1.into();
            let here = std::mem::replace(&mut index, next);
            Value::sequence(vec![here.into(), member], true).map(Some)
        }
        None => Ok(None),
    }))
}

fn cycle(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walk = args.walk(0)?;
    let mut seen: Vec<Value> = Vec::new();
    let mut at = 0;
    Ok(Iter::over(move |machine| {
        if let Some(member) = walk.next(machine)? {
            seen.push(member.clone());
            return Ok(Some(member));
        }
        let member = seen.get(at).cloned();
        at = if at + 1 < seen.len() { at + 1 } else { 0 };
        Ok(member)
    }))
}

fn repeat(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (value, times) = (args.value(0), args.index(1)?);
    let mut left = u64::try_from(times).unwrap_or(u64::MAX);
    let endless = times < 0;
    Ok(Iter::over(move |_| {
        if left == 0 && !endless {
            return Ok(None);
        }
        left = left.saturating_sub(1);
        Ok(Some(value.clone()))
    }))
}

fn reverse(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut members = args.walk(0)?.collect(args.machine)?;
    Ok(Iter::over(move |_| Ok(members.pop())))
}

fn memorize(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let collection = args.value(0);
    let walk = args.machine.walk(&collection)?;
    Ok(match collection {
        Value::Iterator(_) => Lazy::memorized(walk),
        other => other,
    })
}

fn default_if_empty(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (collection, default) = (args.value(0), args.value(1));
    let mut walk = args.machine.walk(&collection)?;
    let first = walk.next(args.machine)?;
    if first.is_none() {
        return Ok(default);
    }
    if !matches!(collection, Value::Iterator(_)) {
        return Ok(collection);
    }
    let mut first = first;
    Ok(Iter::over(move |machine| match first.take() {
        Some(member) => Ok(Some(member)),
        None => walk.next(machine),
    }))
}

fn zip(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walks = walks(args)?;
    Ok(Iter::over(move |machine| {
        let mut row = Vec::with_capacity(walks.len());
        for walk in &mut walks {
            match walk.next(machine)? {
                Some(member) => row.push(member),
                None => return Ok(None),
            }
        }
        Value::sequence(row, true).map(Some)
    }))
}

fn zip_longest(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let mut walks = walks(args)?;
    let default = args
        .keywords(1)
        .into_iter()
        .rev()
        .find(|(name, _)| &**name == "default")
        .map_or(Value::Null, |(_, value)| value);
    Ok(Iter::over(move |machine| {
        let mut row = Vec::with_capacity(walks.len());
        let mut over = true;
        for walk in &mut walks {
            let member = walk.next(machine)?;
            over &= member.is_none();
            row.push(member.unwrap_or_else(|| default.clone()));
        }
        if over { Ok(None) } else { Value::sequence(row, true).map(Some) }
    }))
}

fn join(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut outer, other) = (args.walk(0)?, args.value(1));
    let (predicate, selector) = (args.lambda(2)?, args.lambda(3)?);
    // The inner collection is walked many times.
    let mut rest = Some(args.machine.walk(&other)?);
    let mut inner: Vec<Value> = Vec::new();
    let mut left: Option<Value> = None;
    let mut at = 0;
    Ok(Iter::over(move |machine| {
        if let Some(walk) = rest.take() {
            inner = walk.collect(machine)?;
        }
        loop {
            let Some(a) = left.clone() else {
                left = outer.next(machine)?;
                at = 0;
                if left.is_none() {
                    return Ok(None);
                }
                continue;
            };
            let Some(b) = inner.get(at).cloned() else {
                left = None;
                continue;
            };
            at += 1;
            if machine.apply(&predicate, vec![a.clone(), b.clone()])?.truth() {
                return machine.apply(&selector, vec![a, b]).map(Some);
            }
        }
    }))
}
