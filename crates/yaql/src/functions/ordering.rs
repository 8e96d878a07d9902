//! Sorting and grouping.

use crate::arguments::Arguments;
use crate::collections::{Key, Map};
use crate::context::{Context, Lambda};
use crate::error::Error;
use crate::iterate::{Iter, Lazy, SortKey};
use crate::machine::Machine;
use crate::signature::{Default, Function, Parameter, Type, iter, lambda, m, typed};
use crate::syntax::Binary;
use crate::value::Value;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::sync::Arc;

const ORDER: &[Parameter] = &[iter("collection"), lambda("selector")];
const THEN: &[Parameter] = &[typed("collection", Type::Ordered), lambda("selector")];

pub(crate) static TABLE: &[Function] = &[
    m(
        "groupBy",
        &[
            iter("collection"),
            lambda("keySelector"),
            lambda("valueSelector").or(Default::Null),
            lambda("aggregator").or(Default::Null),
        ],
        group_by,
    ),
    m("orderBy", ORDER, |args| order(args, false)),
    m("orderByDescending", ORDER, |args| order(args, true)),
    m("thenBy", THEN, |args| then(args, false)),
    m("thenByDescending", THEN, |args| then(args, true)),
];

fn order(args: &mut Arguments<'_>, descending: bool) -> Result<Value, Error> {
    let source = args.value(0);
    // A list that is too long is rejected at once.
    args.machine.walk(&source)?;
    let selector = args.lambda(1)?;
    Ok(Lazy::sorted(source, vec![SortKey { selector, descending }]))
}

fn then(args: &mut Arguments<'_>, descending: bool) -> Result<Value, Error> {
    let Value::Lazy(lazy) = args.value(0) else {
        return Ok(Value::Null);
    };
    let selector = args.lambda(1)?;
    Ok(lazy.then(SortKey { selector, descending }))
}

/// The members of a collection in order; the sort is stable.
pub(crate) fn sort(
    machine: &Machine<'_>,
    source: &Value,
    order: &[SortKey],
) -> Result<Vec<Value>, Error> {
    let members = machine.walk(source)?.collect(machine)?;
    if members.len() < 2 {
        return Ok(members);
    }
    let row = |member| Row { member, keys: order.iter().map(|_| OnceCell::new()).collect() };
    let sorted = merge_sort(machine, members.into_iter().map(row).collect(), order)?;
    Ok(sorted.into_iter().map(|row| row.member).collect())
}

/// A member with its keys, which are made when they are compared.
struct Row {
    member: Value,
    keys: Vec<OnceCell<Value>>,
}

impl Row {
    fn key(&self, machine: &Machine<'_>, at: usize, key: &SortKey) -> Result<Value, Error> {
        let cell = self.keys.get(at);
        if let Some(known) = cell.and_then(OnceCell::get) {
            return Ok(known.clone());
        }
        let made = machine.apply(&key.selector, vec![self.member.clone()])?;
        if let Some(cell) = cell {
            let _ = cell.set(made.clone());
        }
        Ok(made)
    }
}

/// Sorts by merging. The library's sort wants an order that is total, and this one need not be.
fn merge_sort(
    machine: &Machine<'_>,
    mut rows: Vec<Row>,
    order: &[SortKey],
) -> Result<Vec<Row>, Error> {
    if rows.len() < 2 {
        return Ok(rows);
    }
    let right = rows.split_off(rows.len() / 2);
    let left = merge_sort(machine, rows, order)?;
    let right = merge_sort(machine, right, order)?;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = match compare(machine, a, b, order)? {
            Ordering::Greater => right.next(),
            Ordering::Less | Ordering::Equal => left.next(),
        };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

fn compare(
    machine: &Machine<'_>,
    left: &Row,
    right: &Row,
    order: &[SortKey],
) -> Result<Ordering, Error> {
    for (at, key) in order.iter().enumerate() {
        let (a, b) = (left.key(machine, at, key)?, right.key(machine, at, key)?);
        let found = compare_values(machine, &a, &b, &key.selector.context)?;
        if found != Ordering::Equal {
            return Ok(if key.descending { found.reverse() } else { found });
        }
    }
    Ok(Ordering::Equal)
}

fn compare_values(
    machine: &Machine<'_>,
    left: &Value,
    right: &Value,
    context: &Arc<Context>,
) -> Result<Ordering, Error> {
    machine.charge(1)?;
    let holds = |operator: Binary| {
        let result = machine.operate(operator, left.clone(), right.clone(), context);
        result.map(|value| value.truth())
    };
    if holds(Binary::Less)? {
        return Ok(Ordering::Less);
    }
    Ok(if holds(Binary::Greater)? { Ordering::Greater } else { Ordering::Equal })
}

fn group_by(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (mut walk, key, value) = (args.walk(0)?, args.lambda(1)?, args.lambda_or_none(2));
    let aggregator = args.lambda_or_none(3);
    let machine = args.machine;
    let mut places = Map::default();
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    while let Some(member) = walk.next(machine)? {
        let value = match &value {
            Some(selector) => machine.apply(selector, vec![member.clone()])?,
            None => member.clone(),
        };
        let key = machine.apply(&key, vec![member])?;
        let position = match places.get(&key) {
            Some(Value::Int(position)) => position.as_i64().and_then(|at| usize::try_from(at).ok()),
            _ => None,
        };
        match position.and_then(|at| groups.get_mut(at)) {
            Some((_, values)) => values.push(value),
            None => {
                places.insert(Key::new(key.clone())?, groups.len().into())?;
                groups.push((key, vec![value]));
            }
        }
    }
    let mut groups = groups.into_iter();
    let mut aggregator = aggregator.map(|lambda| Aggregator { lambda, style: Style::Open });
    Ok(Iter::over(move |machine| {
        let Some((key, values)) = groups.next() else {
            return Ok(None);
        };
        let values = Value::sequence(values, false)?;
        match &mut aggregator {
            Some(aggregator) => aggregator.row(machine, key, values).map(Some),
            None => Value::sequence(vec![key, values], true).map(Some),
        }
    }))
}

/// The function that makes one value of the values of a group.
struct Aggregator {
    lambda: Lambda,
    style: Style,
}

/// The argument and the result of an aggregator.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// The values, for their aggregate.
    Values,
    /// The key and the values, for the same of the aggregate: the way it was in early versions.
    Pairs,
    /// Not known yet.
    Open,
}

impl Aggregator {
    /// The row of a group: its key and aggregate.
    ///
    /// Expressions written for early versions still have to work, so an aggregator that fails over
    /// the values is tried with the pair, unless it worked before and gave no such pair.
    fn row(&mut self, machine: &Machine<'_>, key: Value, values: Value) -> Result<Value, Error> {
        if self.style == Style::Pairs {
            return self.pair(machine, key, values);
        }
        match machine.apply(&self.lambda, vec![values.clone()]) {
            Ok(aggregate) => {
                if !two(&aggregate).is_some_and(|first| *first == key) {
                    self.style = Style::Values;
                }
                Value::sequence(vec![key, aggregate], true)
            }
            Err(error) if self.style == Style::Values => Err(error),
            Err(error) => match self.pair(machine, key, values) {
                Ok(row) if two(&row).is_some() => {
                    self.style = Style::Pairs;
                    Ok(row)
                }
                _ => Err(error),
            },
        }
    }

    fn pair(&self, machine: &Machine<'_>, key: Value, values: Value) -> Result<Value, Error> {
        let pair = Value::sequence(vec![key, values], true)?;
        machine.apply(&self.lambda, vec![pair])
    }
}

/// The first of exactly two members.
fn two(value: &Value) -> Option<&Value> {
    match value {
        Value::List(list) if list.items().len() == 2 => list.items().first(),
        _ => None,
    }
}
