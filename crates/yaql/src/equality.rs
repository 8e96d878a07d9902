//! Equality and hashing as in Python.
//!
//! Equal values have equal hashes: `1`, `1.0` and `true` are one key. Values are bounded in depth,
//! so the recursion here is.

use crate::collections::Set;
use crate::error::Error;
use crate::integer::Integer;
use crate::value::{Value, View, ViewKind};
use crate::work;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Whether two values are equal.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::List(a), Value::List(b)) => a.is_tuple() == b.is_tuple() && a.items() == b.items(),
        (Value::Map(a), Value::Map(b)) => {
            work::note(a.len());
            Arc::ptr_eq(a, b)
                || a.len() == b.len()
                    && a.iter().all(|(key, value)| b.get(key).is_some_and(|found| found == value))
        }
        (Value::Date(a), Value::Date(b)) => a == b,
        (Value::Span(a), Value::Span(b)) => a == b,
        (Value::Regex(a), Value::Regex(b)) => a == b,
        (Value::Iterator(a), Value::Iterator(b)) => a.same(b),
        (Value::Lazy(a), Value::Lazy(b)) => a.same(b),
        (Value::Context(a), Value::Context(b)) => Arc::ptr_eq(a, b),
        (Value::Gap, Value::Gap) => true,
        _ => equal_numbers(left, right) || equal_sets(left, right),
    }
}

fn equal_numbers(left: &Value, right: &Value) -> bool {
    match (whole(left), whole(right)) {
        (Some(a), Some(b)) => a == b,
        (Some(a), None) => matches!(right, Value::Float(b) if equal_float(&a, *b)),
        (None, Some(b)) => matches!(left, Value::Float(a) if equal_float(&b, *a)),
        (None, None) => false,
    }
}

fn equal_float(whole: &Integer, float: f64) -> bool {
    whole.partial_cmp_f64(float) == Some(std::cmp::Ordering::Equal)
}

/// The value as an integer, if it is one or a boolean.
fn whole(value: &Value) -> Option<Integer> {
    match value {
        Value::Int(number) => Some(number.clone()),
        Value::Bool(truth) => Some(i64::from(*truth).into()),
        _ => None,
    }
}

fn equal_sets(left: &Value, right: &Value) -> bool {
    let (Some(a), Some(b)) = (set_like(left), set_like(right)) else {
        return false;
    };
    a.len() == b.len() && a.iter().all(|member| b.contains(member))
}

/// The members of a set, or of a view that is like one; nothing for members that cannot be hashed.
pub(crate) fn set_like(value: &Value) -> Option<Arc<Set>> {
    match value {
        Value::Set(set) => Some(set.clone()),
        Value::View(view @ View { part: ViewKind::Keys | ViewKind::Items, .. }) => {
            Set::new(view.members()).ok().map(Arc::new)
        }
        _ => None,
    }
}

/// Reports a value that cannot be a key or a member of a set.
pub(crate) fn hashable(value: &Value) -> Result<(), Error> {
    match value {
        Value::List(list) if list.is_tuple() => {
            work::note(list.items().len());
            list.items().iter().try_for_each(hashable)
        }
        Value::List(_) => Err(Error::type_("unhashable type: 'list'")),
        Value::Map(map) => {
            work::note(map.len());
            map.iter().try_for_each(|(_, value)| hashable(value))
        }
        Value::View(View { part: ViewKind::Keys, .. }) => {
            Err(Error::type_("unhashable type: 'KeysView'"))
        }
        Value::View(View { part: ViewKind::Items, .. }) => {
            Err(Error::type_("unhashable type: 'ItemsView'"))
        }
        _ => Ok(()),
    }
}

/// Feeds the hash of a value that is [`hashable`].
pub(crate) fn hash<H: Hasher>(value: &Value, state: &mut H) {
    match value {
        Value::Null => state.write_u8(0),
        Value::Bool(truth) => Integer::from(i64::from(*truth)).hash(state),
        Value::Int(number) => number.hash(state),
        Value::Float(number) => hash_float(*number, state),
        Value::Text(text) => hash_text(text, state),
        Value::List(list) => {
            work::note(list.items().len());
            state.write_u8(2);
            list.items().iter().for_each(|item| hash(item, state));
        }
        Value::Map(map) => {
            work::note(map.len());
            state.write_u8(3);
            let entry = |(key, value): (&Value, &Value)| {
                let mut state = DefaultHasher::new();
                hash(key, &mut state);
                hash(value, &mut state);
                state.finish()
            };
            state.write_u64(map.iter().map(entry).fold(0, |a, b| a ^ b));
        }
        Value::Set(set) => {
            work::note(set.len());
            state.write_u8(4);
            state.write_u64(set.iter().map(alone).fold(0, |a, b| a ^ b));
        }
        Value::Date(date) => date.hash(state),
        Value::Span(span) => span.hash(state),
        Value::Regex(regex) => regex.pattern().hash(state),
        // The rest is equal only to itself; a common hash is correct and rare enough.
        Value::View(_) | Value::Iterator(_) | Value::Lazy(_) | Value::Context(_) | Value::Gap => {
            state.write_u8(5);
        }
    }
}

/// Feeds the hash of a text value.
pub(crate) fn hash_text<H: Hasher>(text: &str, state: &mut H) {
    text.hash(state);
}

fn hash_float<H: Hasher>(number: f64, state: &mut H) {
    match Integer::from_f64(number) {
        Some(whole) if number.fract() == 0.0 => whole.hash(state),
        _ => number.to_bits().hash(state),
    }
}

fn alone(value: &Value) -> u64 {
    let mut state = DefaultHasher::new();
    hash(value, &mut state);
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_hashes() {
        let big = Integer::parse("100000000000000000000").unwrap();
        let list = |items: &[i64]| Value::list(items.iter().map(|n| Value::from(*n)));
        for (a, b) in [
            (Value::from(1), Value::from(1.0)),
            (Value::from(1), Value::from(true)),
            (Value::from(0.0), Value::from(-0.0)),
            (Value::Int(big), Value::from(1e20)),
            (list(&[1, 0]), Value::list([Value::from(true), Value::from(0.0)])),
        ] {
            assert_eq!(a, b);
            assert_eq!(alone(&a), alone(&b), "{a:?} {b:?}");
        }
        assert_ne!(Value::from("1"), Value::from(1));
        assert_ne!(Value::from(f64::NAN), Value::from(f64::NAN));
    }

    #[test]
    fn a_tuple_is_not_a_list() {
        let tuple = Value::list([Value::from(1)]);
        let list = Value::sequence(vec![Value::from(1)], false).unwrap();
        assert_ne!(tuple, list);
        assert!(hashable(&tuple).is_ok());
        assert_eq!(hashable(&list).unwrap_err().to_string(), "unhashable type: 'list'");
    }
}
