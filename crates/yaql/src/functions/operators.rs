//! Operators: arithmetic, comparison, membership, and indexing.

use crate::arguments::Arguments;
use crate::collections::Set;
use crate::equality::set_like;
use crate::error::{Error, ErrorKind, FailureClass};
use crate::integer::Integer;
use crate::iterate::{BoundedIter, Iter};
use crate::machine::Machine;
use crate::python;
use crate::regex::Flags;
use crate::render;
use crate::signature::{Function, Parameter, Type, any, f, int, map, typed};
use crate::syntax::{Binary, NodeKind, Unary};
use crate::time::TimeSpan;
use crate::value::Value;
use std::cmp::Ordering;
use std::sync::Arc;

const TWO: &[Parameter] = &[any("left"), any("right")];
const ONE: &[Parameter] = &[any("op")];

pub(crate) static TABLE: &[Function] = &[
    f("#indexer", &[map("dict"), any("key")], map_index),
    f("#indexer", &[map("dict"), any("key"), any("default")], map_index_or),
    f("#indexer", &[typed("list", Type::Sequence), int("index")], list_index),
    f("#list", &[any("args").rest()], build_list),
    f("#operator_!~", TWO, by_name),
    f("#operator_*", TWO, by_name),
    f("#operator_+", TWO, by_name),
    f("#operator_-", TWO, by_name),
    f("#operator_/", TWO, by_name),
    f("#operator_<", TWO, by_name),
    f("#operator_<=", TWO, by_name),
    f("#operator_=~", TWO, by_name),
    f("#operator_>", TWO, by_name),
    f("#operator_>=", TWO, by_name),
    f("#operator_in", TWO, by_name),
    f("#operator_mod", TWO, by_name),
    f("#unary_operator_+", ONE, unary_by_name),
    f("#unary_operator_-", ONE, unary_by_name),
    f("#unary_operator_not", ONE, unary_by_name),
    f("*equal", TWO, by_name),
    f("*not_equal", TWO, by_name),
];

/// Whether some overload of an operator takes operands that are written out; others pass.
pub(crate) fn possible(operator: Binary, left: &NodeKind, right: &NodeKind) -> bool {
    use Type::{Date, Int, Iterable, Map, Number, Regex, Sequence, Set, Span, Text};
    let rows: &[(Type, Type)] = match operator {
        Binary::Add => &[
            (Number, Number),
            (Text, Text),
            (Iterable, Iterable),
            (Map, Map),
            (Date, Span),
            (Span, Date),
            (Span, Span),
        ],
        Binary::Subtract => {
            &[(Number, Number), (Set, Set), (Date, Span), (Date, Date), (Span, Span)]
        }
        Binary::Multiply => &[
            (Number, Number),
            (Text, Int),
            (Int, Text),
            (Sequence, Int),
            (Int, Sequence),
            (Span, Number),
            (Number, Span),
        ],
        Binary::Divide => &[(Number, Number), (Span, Span), (Span, Number)],
        Binary::Modulo => &[(Number, Number)],
        Binary::In => &[(Text, Text), (Type::Any, Iterable)],
        Binary::Matches | Binary::NotMatches => &[(Text, Text), (Text, Regex)],
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            let null = |kind: &NodeKind| matches!(kind, NodeKind::Literal(Value::Null));
            if null(left) || null(right) {
                return true;
            }
            // Anything can be compared with null, so only two written operands can be hopeless.
            let open =
                |kind: &NodeKind| !matches!(kind, NodeKind::Literal(_) | NodeKind::Keyword(_));
            if open(left) || open(right) {
                return true;
            }
            &[(Number, Number), (Text, Text)]
        }
        Binary::And | Binary::Or | Binary::Equal | Binary::NotEqual => return true,
        Binary::Send => return !matches!(left, NodeKind::Literal(_) | NodeKind::Keyword(_)),
    };
    let fits = |kind: &NodeKind, type_: Type| match kind {
        NodeKind::Literal(Value::Null) => type_ == Type::Any,
        NodeKind::Literal(value) => type_.accepts(value),
        NodeKind::Keyword(_) => matches!(type_, Type::Any | Text),
        _ => true,
    };
    rows.iter().any(|(a, b)| fits(left, *a) && fits(right, *b))
}

/// Applies an infix operator to evaluated operands.
pub(crate) fn binary(
    machine: &Machine<'_>,
    operator: Binary,
    left: &Value,
    right: &Value,
) -> Result<Value, Error> {
    let result = match operator {
        Binary::Equal => Some((left == right).into()),
        Binary::NotEqual => Some((left != right).into()),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            compare(operator, left, right).map(Value::Bool)
        }
        Binary::Add => add(machine, left, right)?,
        Binary::Subtract => subtract(left, right)?,
        Binary::Multiply => multiply(machine, left, right)?,
        Binary::Divide => divide(left, right)?,
        Binary::Modulo => modulo(left, right)?,
        Binary::In => contains(machine, left, right)?.map(Value::Bool),
        Binary::Matches => matches(machine, left, right)?.map(Value::Bool),
        Binary::NotMatches => matches(machine, left, right)?.map(|found| Value::Bool(!found)),
        Binary::And => Some(if left.truth() { right.clone() } else { left.clone() }),
        Binary::Or => Some(if left.truth() { left.clone() } else { right.clone() }),
        Binary::Send => None,
    };
    result.ok_or_else(|| ErrorKind::NoMatchingFunction(operator.function().into()).into())
}

/// Applies a prefix operator to an evaluated operand.
pub(crate) fn unary(operator: Unary, operand: &Value) -> Result<Value, Error> {
    Ok(match (operator, operand) {
        (Unary::Not, operand) => Value::Bool(!operand.truth()),
        (Unary::Minus, Value::Int(number)) => Value::Int(-number),
        (Unary::Minus, Value::Float(number)) => Value::Float(-number),
        (Unary::Minus, Value::Span(span)) => Value::Span(span.negated()?),
        (Unary::Plus, Value::Int(_) | Value::Float(_) | Value::Span(_)) => operand.clone(),
        _ => return Err(ErrorKind::NoMatchingFunction(operator.function().into()).into()),
    })
}

/// Whether the comparison holds; nothing for operands that have no order.
fn compare(operator: Binary, left: &Value, right: &Value) -> Option<bool> {
    let holds = |order: Option<Ordering>| match operator {
        Binary::Less => order == Some(Ordering::Less),
        Binary::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Binary::Greater => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    };
    let order = match (left, right) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Null, _) => Some(Ordering::Less),
        (_, Value::Null) => Some(Ordering::Greater),
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Float(b)) => a.partial_cmp_f64(*b),
        (Value::Float(a), Value::Int(b)) => b.partial_cmp_f64(*a).map(Ordering::reverse),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
        (Value::Span(a), Value::Span(b)) => Some(a.cmp(b)),
        _ => subset_order(&*set_like(left)?, &*set_like(right)?),
    };
    Some(holds(order))
}

/// Sets are ordered by inclusion.
fn subset_order(left: &Set, right: &Set) -> Option<Ordering> {
    let within = |a: &Set, b: &Set| a.iter().all(|member| b.contains(member));
    match (within(left, right), within(right, left)) {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => None,
    }
}

fn add(machine: &Machine<'_>, left: &Value, right: &Value) -> Result<Option<Value>, Error> {
    Ok(Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a + b),
        (Value::Text(a), Value::Text(b)) => {
            let mut text = String::with_capacity(a.len() + b.len());
            text.push_str(a);
            text.push_str(b);
            text.into()
        }
        (Value::Map(a), Value::Map(b)) => {
            let mut sum = (**a).clone();
            for (key, value) in b.iter() {
                sum.insert(crate::collections::Key::new(key.clone())?, value.clone())?;
            }
            Value::Map(Arc::new(sum))
        }
        (Value::Set(a), Value::Set(b)) => {
            Value::Set(Arc::new(Set::new(a.iter().chain(b.iter()).cloned())?))
        }
        (Value::Date(date), Value::Span(span)) | (Value::Span(span), Value::Date(date)) => {
            Value::Date(date.plus(*span)?)
        }
        (Value::Span(a), Value::Span(b)) => Value::Span(a.plus(*b)?),
        _ => {
            if let Some((a, b)) = floats(left, right)? {
                return Ok(Some((a + b).into()));
            }
            return concatenate(machine, left, right);
        }
    }))
}

fn concatenate(machine: &Machine<'_>, left: &Value, right: &Value) -> Result<Option<Value>, Error> {
    if !Type::Iterable.accepts(left) || !Type::Iterable.accepts(right) {
        return Ok(None);
    }
    let (mut first, mut second) = (machine.walk(left)?, machine.walk(right)?);
    if let (Value::List(_), Value::List(_)) = (left, right) {
        let mut items = first.collect(machine)?;
        items.extend(second.collect(machine)?);
        return Value::sequence(items, true).map(Some);
    }
    Ok(Some(Iter::over(move |machine| match first.next(machine)? {
        Some(member) => Ok(Some(member)),
        None => second.next(machine),
    })))
}

fn subtract(left: &Value, right: &Value) -> Result<Option<Value>, Error> {
    Ok(Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a - b),
        (Value::Date(a), Value::Span(b)) => Value::Date(a.plus(b.negated()?)?),
        (Value::Date(a), Value::Date(b)) => Value::Span(a.minus(b)?),
        (Value::Span(a), Value::Span(b)) => Value::Span(a.plus(b.negated()?)?),
        _ => {
            if let Some((a, b)) = floats(left, right)? {
                return Ok(Some((a - b).into()));
            }
            match (set_like(left), set_like(right)) {
                (Some(a), Some(b)) => super::sets::difference_of(&a, &b)?,
                _ => return Ok(None),
            }
        }
    }))
}

fn multiply(machine: &Machine<'_>, left: &Value, right: &Value) -> Result<Option<Value>, Error> {
    Ok(Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Value::Int(product(machine, a, b)?),
        (Value::Text(text), times) | (times, Value::Text(text)) => match whole(times) {
            Some(times) => repeat_text(machine, text, &times)?,
            None => return Ok(None),
        },
        (Value::List(list), times) | (times, Value::List(list)) => match whole(times) {
            Some(times) => repeat_list(machine, list, &times)?,
            None => return Ok(None),
        },
        (Value::Span(span), Value::Int(number)) | (Value::Int(number), Value::Span(span)) => {
            Value::Span(span.times(number)?)
        }
        (Value::Span(span), Value::Float(number)) | (Value::Float(number), Value::Span(span)) => {
            Value::Span(TimeSpan::from_float(span.microseconds() as f64 * number)?)
        }
        _ => match floats(left, right)? {
            Some((a, b)) => (a * b).into(),
            None => return Ok(None),
        },
    }))
}

/// The product of integers, which takes time when they are large.
pub(crate) fn product(
    machine: &Machine<'_>,
    left: &Integer,
    right: &Integer,
) -> Result<Integer, Error> {
    let words = |number: &Integer| number.bits() / 64;
    machine.charge(words(left) * words(right) / 64)?;
    Ok(left * right)
}

/// An integer or boolean as a number of times.
fn whole(value: &Value) -> Option<Integer> {
    match value {
        Value::Int(number) => Some(number.clone()),
        Value::Bool(truth) => Some(i64::from(*truth).into()),
        _ => None,
    }
}

/// How often something is repeated; the result has to fit the quota.
fn times(
    machine: &Machine<'_>,
    times: &Integer,
    bytes: usize,
    overhead: usize,
) -> Result<usize, Error> {
    if times.is_negative() || bytes == 0 {
        return Ok(0);
    }
    let count = times.as_i64().and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    machine.fits(bytes.saturating_mul(count).saturating_add(overhead))?;
    Ok(count)
}

fn repeat_text(machine: &Machine<'_>, text: &str, count: &Integer) -> Result<Value, Error> {
    Ok(text.repeat(times(machine, count, text.len(), 49)?).into())
}

fn repeat_list(
    machine: &Machine<'_>,
    list: &crate::value::List,
    count: &Integer,
) -> Result<Value, Error> {
    let count = times(machine, count, 8 * list.items().len(), 40)?;
    let items = std::iter::repeat_n(list.items(), count).flatten().cloned().collect();
    Value::sequence(items, list.is_tuple())
}

fn divide(left: &Value, right: &Value) -> Result<Option<Value>, Error> {
    Ok(Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => match a.floor_div(b) {
            Some(quotient) => Value::Int(quotient),
            None => return Err(by_zero("integer division or modulo by zero")),
        },
        (Value::Span(a), Value::Span(b)) => {
            if b.is_zero() {
                return Err(by_zero("float division by zero"));
            }
            (a.microseconds() as f64 / b.microseconds() as f64).into()
        }
        (Value::Span(span), Value::Int(_) | Value::Float(_)) => {
            Value::Span(super::dates::divide(*span, right)?)
        }
        _ => match floats(left, right)? {
            Some((_, 0.0)) => return Err(by_zero("float division by zero")),
            Some((a, b)) => (a / b).into(),
            None => return Ok(None),
        },
    }))
}

fn modulo(left: &Value, right: &Value) -> Result<Option<Value>, Error> {
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        return match a.floor_mod(b) {
            Some(rest) => Ok(Some(Value::Int(rest))),
            None => Err(by_zero("integer modulo by zero")),
        };
    }
    match floats(left, right)? {
        Some((_, 0.0)) => Err(by_zero("float modulo")),
        Some((a, b)) => {
            let rest = a % b;
            let rest = if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest };
            // A rest of nothing has the sign of the divisor.
            Ok(Some(if rest == 0.0 { 0.0_f64.copysign(b) } else { rest }.into()))
        }
        None => Ok(None),
    }
}

pub(crate) fn by_zero(message: &'static str) -> Error {
    Error::failure(FailureClass::Division, message)
}

/// Two numbers as floats; nothing if one is no number.
fn floats(left: &Value, right: &Value) -> Result<Option<(f64, f64)>, Error> {
    match (left, right) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            Ok(Some((float(left)?, float(right)?)))
        }
        _ => Ok(None),
    }
}

/// A number as a float; anything else counts as not a number.
pub(crate) fn float(value: &Value) -> Result<f64, Error> {
    match value {
        Value::Float(number) => Ok(*number),
        Value::Int(number) => {
            let float = number.to_f64();
            if float.is_infinite() {
                return Err(Error::overflow("int too large to convert to float"));
            }
            Ok(float)
        }
        _ => Ok(f64::NAN),
    }
}

/// Whether a collection or text holds a value; nothing if the right side is neither.
pub(crate) fn contains(
    machine: &Machine<'_>,
    value: &Value,
    collection: &Value,
) -> Result<Option<bool>, Error> {
    if let (Value::Text(part), Value::Text(whole)) = (value, collection) {
        return Ok(Some(whole.contains(&**part)));
    }
    let Some(mut walk) = BoundedIter::new(collection, machine.options.limit_iterators)? else {
        return Ok(None);
    };
    if let Value::Set(set) = collection {
        crate::equality::hashable(value)?;
        return Ok(Some(set.contains(value)));
    }
    while let Some(member) = walk.next(machine)? {
        if member == *value {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

fn matches(machine: &Machine<'_>, text: &Value, pattern: &Value) -> Result<Option<bool>, Error> {
    let Value::Text(text) = text else {
        return Ok(None);
    };
    let regex = match pattern {
        Value::Text(pattern) => machine.pattern(pattern, Flags::default())?,
        Value::Regex(regex) => regex.clone(),
        _ => return Ok(None),
    };
    super::regexes::charge(machine, text)?;
    regex.is_match(text).map(Some)
}

fn by_name(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (left, right) = (args.value(0), args.value(1));
    match Binary::from_function(args.candidate.function.name) {
        Some(operator) => binary(args.machine, operator, &left, &right),
        None => Ok(Value::Null),
    }
}

fn unary_by_name(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let sign = args.candidate.function.name.trim_start_matches("#unary_operator_");
    let operand = args.value(0);
    Unary::from_sign(sign).map_or(Ok(Value::Null), |operator| unary(operator, &operand))
}

fn build_list(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Value::sequence(args.values(0), true)
}

fn map_index(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, key) = (args.map(0)?, args.value(1));
    crate::equality::hashable(&key)?;
    match map.get(&key) {
        Some(value) => Ok(value.clone()),
        None => Err(ErrorKind::MissingKey(render::quoted(&key)?).into()),
    }
}

fn map_index_or(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (map, key, default) = (args.map(0)?, args.value(1), args.value(2));
    crate::equality::hashable(&key)?;
    Ok(map.get(&key).cloned().unwrap_or(default))
}

fn list_index(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (list, index) = (args.value(0), args.index(1)?);
    let Value::List(list) = list else {
        return Ok(Value::Null);
    };
    match python::position(index, list.items().len()).and_then(|at| list.items().get(at)) {
        Some(value) => Ok(value.clone()),
        None => Err(Error::failure(
            FailureClass::Index,
            if list.is_tuple() { "tuple index out of range" } else { "list index out of range" },
        )),
    }
}
