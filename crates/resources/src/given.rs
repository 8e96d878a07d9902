//! Reading values that a schema has already looked at.

use crate::declare::{Members, Value};
use std::time::Duration;

/// What stands under a name, unless it is null.
pub(crate) fn given<'m>(members: &'m Members, name: &str) -> Option<&'m Value> {
    members.get(name).filter(|value| !value.is_null())
}

/// The text under a name.
pub(crate) fn text<'m>(members: &'m Members, name: &str) -> Option<&'m str> {
    members.get(name)?.as_text().map(|text| &**text)
}

/// The map under a name.
pub(crate) fn section<'m>(members: &'m Members, name: &str) -> Option<&'m Members> {
    members.get(name)?.as_map()
}

/// A number, whole or not.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(number.to_f64()),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// How many the number under a name means; less than nothing is nothing.
pub(crate) fn count(members: &Members, name: &str) -> Option<usize> {
    let Value::Int(number) = members.get(name)? else { return None };
    let number = number.as_i64()?.clamp(0, i64::from(u32::MAX));
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
