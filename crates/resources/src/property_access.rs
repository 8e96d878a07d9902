//! Access to properties that were converted by a schema. Secrets are read like other values: a value that is
//! derived from a secret must be a secret again if it reveals it.

use crate::declare::{Members, Value};
use std::time::Duration;

/// The value itself, also of a secret.
pub(crate) fn open(value: &Value) -> &Value {
    match value {
        Value::Secret(secret) => open(secret.expose()),
        value => value,
    }
}

/// A property, unless it is null.
pub(crate) fn given<'m>(members: &'m Members, name: &str) -> Option<&'m Value> {
    members.get(name).filter(|value| !value.is_null())
}

/// Whether a property has a value: a null in a template becomes an empty string.
pub(crate) fn is_given(members: &Members, name: &str) -> bool {
    let is_empty = |value: &Value| open(value).as_text().is_some_and(|text| text.is_empty());
    given(members, name).is_some_and(|value| !is_empty(value))
}

/// A property that is a string.
pub(crate) fn text<'m>(members: &'m Members, name: &str) -> Option<&'m str> {
    open(members.get(name)?).as_text().map(|text| &**text)
}

/// A property that is a string, unless it is empty: a null in a template becomes an empty string.
pub(crate) fn word<'m>(members: &'m Members, name: &str) -> Option<&'m str> {
    text(members, name).filter(|text| !text.is_empty())
}

/// A property that is a map.
pub(crate) fn section<'m>(members: &'m Members, name: &str) -> Option<&'m Members> {
    open(members.get(name)?).as_map()
}

/// A property that is a list; empty if there is none.
pub(crate) fn items<'m>(members: &'m Members, name: &str) -> &'m [Value] {
    members.get(name).and_then(|value| open(value).as_list()).unwrap_or_default()
}

/// A number, integer or not.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match open(value) {
        Value::Int(number) => Some(number.to_f64()),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// A property that is a count; a negative number counts as zero.
pub(crate) fn count(members: &Members, name: &str) -> Option<usize> {
    let Value::Int(number) = open(members.get(name)?) else { return None };
    let beyond = if number.to_f64() < 0.0 { 0 } else { i64::MAX };
    let number = number.as_i64().unwrap_or(beyond).clamp(0, i64::from(u32::MAX));
    usize::try_from(number).ok()
}

/// A number as a value.
pub(crate) fn whole(number: usize) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// A number of seconds as a duration; zero if it is negative or no number.
pub(crate) fn seconds(value: &Value) -> Duration {
    let seconds = number(value).unwrap_or_default();
    Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).unwrap_or_default()
}
