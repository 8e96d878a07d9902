//! Values as text: the host language's printing, and JSON in its layout.
//!
//! Nothing here opens a secret: a hidden value prints as `******`. Code that must compute with it
//! lays it open first ([`Value::exposed`]).

use crate::value::Value;
use kiln_yaql::python;
use std::fmt::Write;

/// What stands in for a hidden value.
pub const HIDDEN: &str = "******";

/// The value as the host prints it: text as it is, `True`, `None`, `[1, 'x']`.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        value => repr(value),
    }
}

/// The value as the host shows it inside containers: text in quotes.
pub fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_repr(&mut out, value);
    out
}

fn write_repr(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(flag) => out.push_str(if *flag { "True" } else { "False" }),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::Float(number) => out.push_str(&python::float(*number)),
        Value::Text(text) => out.push_str(&python::quoted(text)),
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_repr(out, item);
            }
            out.push(']');
        }
        Value::Map(members) => {
            out.push('{');
            for (i, (key, member)) in members.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                out.push_str(&python::quoted(key));
                out.push_str(": ");
                write_repr(out, member);
            }
            out.push('}');
        }
        Value::Unknown(_) => out.push_str("(not known yet)"),
        Value::Secret(_) => out.push_str(HIDDEN),
    }
}

/// In which order a map's members are written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// As they stand.
    Ordered,
    /// By code point.
    Sorted,
}

/// JSON with `", "` and `": "` between its parts and everything beyond ASCII escaped.
pub fn json(value: &Value, keys: Keys) -> String {
    let mut out = String::new();
    write_json(&mut out, value, keys);
    out
}

fn write_json(out: &mut String, value: &Value, keys: Keys) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::Float(number) if number.is_nan() => out.push_str("NaN"),
        Value::Float(number) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { "Infinity" } else { "-Infinity" });
        }
        Value::Float(number) => out.push_str(&python::float(*number)),
        Value::Text(text) => write_json_text(out, text),
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_json(out, item, keys);
            }
            out.push(']');
        }
        Value::Map(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if keys == Keys::Sorted {
                members.sort_by_key(|(key, _)| *key);
            }
            out.push('{');
            for (i, (key, member)) in members.into_iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_json_text(out, key);
                out.push_str(": ");
                write_json(out, member, keys);
            }
            out.push('}');
        }
        Value::Unknown(_) => out.push_str("null"),
        Value::Secret(_) => write_json_text(out, HIDDEN),
    }
}

fn write_json_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Secret;

    #[test]
    fn values_print_as_the_host_prints_them() {
        let value = Value::list([
            Value::Null,
            true.into(),
            1.into(),
            1.0.into(),
            "it's".into(),
            Value::map([("k", Value::list([]))]),
        ]);
        assert_eq!(plain(&value), r#"[None, True, 1, 1.0, "it's", {'k': []}]"#);
        assert_eq!(plain(&"x".into()), "x");
        assert_eq!(json(&value, Keys::Ordered), r#"[null, true, 1, 1.0, "it's", {"k": []}]"#);
        let map = Value::map([("b", 1.into()), ("a", "é𝄞".into())]);
        assert_eq!(json(&map, Keys::Sorted), r#"{"a": "\u00e9\ud834\udd1e", "b": 1}"#);
        let hidden = Value::list([Value::Secret(Secret::new("x".into()))]);
        assert_eq!(json(&hidden, Keys::Ordered), r#"["******"]"#);
    }
}
