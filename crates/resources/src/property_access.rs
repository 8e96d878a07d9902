//! Reading values that a schema has already looked at. Hidden values are read like others: what comes
//! of them must be hidden again if they could be told from it.

use crate::declare::{Members, Value};
use std::time::Duration;

/// The value itself, if it is hidden.
pub(crate) fn open(value: &Value) -> &Value {
    match value {
        Value::Secret(secret) => open(secret.expose()),
        value => value,
    }
}

/// What stands under a name, unless it is null.
pub(crate) fn given<'m>(members: &'m Members, name: &str) -> Option<&'m Value> {
    members.get(name).filter(|value| !value.is_null())
}

/// Whether something stands under a name: a null that was written for a text is an empty one.
pub(crate) fn is_given(members: &Members, name: &str) -> bool {
    let is_empty = |value: &Value| open(value).as_text().is_some_and(|text| text.is_empty());
    given(members, name).is_some_and(|value| !is_empty(value))
}

/// The text under a name.
pub(crate) fn text<'m>(members: &'m Members, name: &str) -> Option<&'m str> {
    open(members.get(name)?).as_text().map(|text| &**text)
}

/// The text under a name, unless it is empty: a null that was written for a text is an empty one.
pub(crate) fn word<'m>(members: &'m Members, name: &str) -> Option<&'m str> {
    text(members, name).filter(|text| !text.is_empty())
}

/// The map under a name.
pub(crate) fn section<'m>(members: &'m Members, name: &str) -> Option<&'m Members> {
    open(members.get(name)?).as_map()
}

/// The list under a name; an empty one if there is none.
pub(crate) fn items<'m>(members: &'m Members, name: &str) -> &'m [Value] {
    members.get(name).and_then(|value| open(value).as_list()).unwrap_or_default()
}

/// A number, whole or not.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match open(value) {
        Value::Int(number) => Some(number.to_f64()),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// How many the number under a name means; less than nothing is nothing.
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

/// A length of time in seconds; nothing if it is no number, or less than nothing.
pub(crate) fn seconds(value: &Value) -> Duration {
    let seconds = number(value).unwrap_or_default();
    Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).unwrap_or_default()
}
