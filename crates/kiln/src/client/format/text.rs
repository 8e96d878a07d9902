//! Values as text: as Python shows them in a cell, and JSON in the layout of its standard library.

use kiln_yaql::python;
use serde_json::{Number, Value};
use std::fmt::Write;

/// A value as Python prints it: text as it is, `None`, `True`, `{'k': [1]}`.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => {
            let mut out = String::new();
            write_repr(&mut out, value);
            out
        }
    }
}

/// Names as Python prints a list of texts: `['a', 'b']`.
pub(crate) fn quoted_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(python::quoted).collect();
    format!("[{}]", quoted.join(", "))
}

/// A number as Python prints it.
pub(super) fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => python::float(float),
        _ => number.to_string(),
    }
}

fn write_repr(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(flag) => out.push_str(if *flag { "True" } else { "False" }),
        Value::Number(it) => out.push_str(&number(it)),
        Value::String(text) => out.push_str(&python::quoted(text)),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_repr(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                _ = write!(out, "{}: ", python::quoted(key));
                write_repr(out, member);
            }
            out.push('}');
        }
    }
}

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    /// On one line, with blanks after `,` and `:`.
    Line,
    /// Two blanks for each level; characters beyond ASCII as escapes.
    Indented,
    /// As cells of tables have it: like [`Json::Indented`], with all characters as they are, and a
    /// blank after a comma also at the end of a line.
    InCell,
}

/// A value as JSON, without a line feed at its end.
pub(crate) fn json(value: &Value, layout: Json) -> String {
    let mut out = String::new();
    write_json(&mut out, value, layout, 0);
    out
}

fn write_json(out: &mut String, value: &Value, layout: Json, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(it) => out.push_str(&number(it)),
        Value::String(text) => write_json_text(out, text, layout),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Object(members) if members.is_empty() => out.push_str("{}"),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                between(out, at, layout, depth + 1);
                write_json(out, item, layout, depth + 1);
            }
            close(out, ']', layout, depth);
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                between(out, at, layout, depth + 1);
                write_json_text(out, key, layout);
                out.push_str(": ");
                write_json(out, member, layout, depth + 1);
            }
            close(out, '}', layout, depth);
        }
    }
}

fn between(out: &mut String, at: usize, layout: Json, depth: usize) {
    match (layout, at) {
        (Json::Line, 0) => {}
        (Json::Line, _) => out.push_str(", "),
        (_, at) => {
            out.push_str(match (at, layout) {
                (0, _) => "",
                (_, Json::InCell) => ", ",
                _ => ",",
            });
            new_line(out, depth);
        }
    }
}

fn close(out: &mut String, bracket: char, layout: Json, depth: usize) {
    if layout != Json::Line {
        new_line(out, depth);
    }
    out.push(bracket);
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

fn write_json_text(out: &mut String, text: &str, layout: Json) {
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
            c if layout == Json::InCell && c >= ' ' => out.push(c),
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
    use serde_json::json;

    #[test]
    fn values_print_as_python_prints_them() {
        let value = json!({"k": [1, null, true, 1.0, 1e22], "e": "it's é"});
        assert_eq!(plain(&value), r#"{'k': [1, None, True, 1.0, 1e+22], 'e': "it's é"}"#);
        assert_eq!(plain(&json!("x")), "x");
        assert_eq!(plain(&json!(null)), "None");
        assert_eq!(quoted_list(["ID", "it's"]), r#"['ID', "it's"]"#);
    }

    #[test]
    fn json_has_the_layout_of_pythons_library() {
        let value = json!({"k": [1, {}], "e": "é\u{1d11e}\u{7f}\n", "n": []});
        assert_eq!(
            super::json(&value, Json::Line),
            r#"{"k": [1, {}], "e": "\u00e9\ud834\udd1e\u007f\n", "n": []}"#
        );
        assert_eq!(
            super::json(&value, Json::Indented),
            "{\n  \"k\": [\n    1,\n    {}\n  ],\n  \"e\": \"\\u00e9\\ud834\\udd1e\\u007f\\n\",\n  \"n\": []\n}"
        );
        assert_eq!(super::json(&json!(["é\u{1}", 2]), Json::InCell), "[\n  \"é\\u0001\", \n  2\n]");
    }
}
