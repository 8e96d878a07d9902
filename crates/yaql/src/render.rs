//! Values as Python prints them.
//!
//! Two forms, as there: text by itself is bare, inside a container it is quoted.

use crate::error::Error;
use crate::integer::Integer;
use crate::python;
use crate::value::{Value, ViewKind};
use std::fmt::Write;

/// The longest integer that is printed, in digits.
const MAX_DIGITS: u64 = 4300;

/// The value as text: the form of receivers in messages.
pub(crate) fn text(value: &Value) -> Result<String, Error> {
    match value {
        Value::Text(text) => Ok(text.to_string()),
        Value::Date(date) => Ok(date.to_string()),
        Value::Span(span) => Ok(span.to_string()),
        other => quoted(other),
    }
}

/// The value as it is printed inside a container.
pub(crate) fn quoted(value: &Value) -> Result<String, Error> {
    let mut out = String::new();
    write(value, &mut out)?;
    Ok(out)
}

/// An integer in decimal digits, unless there are too many.
pub(crate) fn integer(number: &Integer) -> Result<String, Error> {
    // Every digit takes more than three bits, so most numbers need not be printed to be judged.
    let printed = || number.to_string();
    let too_long = |digits: &str| digits.trim_start_matches('-').len() as u64 > MAX_DIGITS;
    if number.bits() > MAX_DIGITS * 4 || number.bits() > MAX_DIGITS * 3 && too_long(&printed()) {
        return Err(Error::value(
            "Exceeds the limit (4300 digits) for integer string conversion; \
             use sys.set_int_max_str_digits() to increase the limit",
        ));
    }
    Ok(printed())
}

fn write(value: &Value, out: &mut String) -> Result<(), Error> {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(number) => out.push_str(&integer(number)?),
        Value::Float(number) => out.push_str(&python::float(*number)),
        Value::Text(text) => out.push_str(&python::quoted(text)),
        Value::List(list) if list.is_tuple() => {
            out.push('(');
            members(list.items(), out)?;
            out.push_str(if list.items().len() == 1 { ",)" } else { ")" });
        }
        Value::List(list) => {
            out.push('[');
            members(list.items(), out)?;
            out.push(']');
        }
        Value::Map(map) => write_map(map, out)?,
        Value::Set(set) if set.is_empty() => out.push_str("frozenset()"),
        Value::Set(set) => {
            out.push_str("frozenset({");
            members(set.iter(), out)?;
            out.push_str("})");
        }
        Value::View(view) => {
            out.push_str(match view.part {
                ViewKind::Keys => "KeysView(",
                ViewKind::Values => "ValuesView(",
                ViewKind::Items => "ItemsView(",
            });
            write_map(&view.map, out)?;
            out.push(')');
        }
        Value::Date(date) => date.write_form(out),
        Value::Span(span) => span.write_form(out),
        Value::Regex(regex) => out.push_str(&regex.form()),
        // The reference prints memory addresses here, which have no meaning outside of its process.
        Value::Iterator(_) => out.push_str("<generator object>"),
        Value::Lazy(_) => out.push_str("<OrderingIterable object>"),
        Value::Context(_) => out.push_str("<Context object>"),
        Value::Gap => out.push_str("<NoValue>"),
    }
    Ok(())
}

fn write_map(map: &crate::collections::Map, out: &mut String) -> Result<(), Error> {
    out.push('{');
    for (index, (key, value)) in map.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        crate::work::note(1);
        write(key, out)?;
        let _ = out.write_str(": ");
        write(value, out)?;
    }
    out.push('}');
    Ok(())
}

fn members<'a>(items: impl IntoIterator<Item = &'a Value>, out: &mut String) -> Result<(), Error> {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        crate::work::note(0);
        write(item, out)?;
    }
    Ok(())
}
