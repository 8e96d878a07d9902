//! Values as text: Python's printing, and JSON in its layout.
//!
//! Nothing here opens a secret: a hidden value prints as `******`. Code that must compute with it
//! exposes it first ([`Value::exposed`]).

use crate::value::Value;
use kiln_yaql::python;
use std::fmt::Write;
use std::sync::Arc;

/// The text that stands in for a hidden value.
pub const HIDDEN: &str = "******";

/// The value as Python prints it: text as it is, `True`, `None`, `[1, 'x']`.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        value => repr(value),
    }
}

/// The value as Python shows it inside containers: text in quotes.
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

/// The order of a map's members in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// In the order of the map.
    Ordered,
    /// Sorted by code point.
    Sorted,
}

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// On one line, with blanks after `,` and `:`; everything beyond ASCII is escaped.
    Line,
    /// Two blanks for each level; everything beyond ASCII is escaped.
    Indented,
    /// For cells of tables: like [`Layout::Indented`], with all characters as they are, and a
    /// blank after a comma also at the end of a line.
    InCell,
}

/// JSON with `", "` and `": "` between its parts and everything beyond ASCII escaped.
pub fn json(value: &Value, keys: Keys) -> String {
    json_with_layout(value, keys, Layout::Line)
}

/// JSON in a layout, without a line feed at its end.
pub fn json_with_layout(value: &Value, keys: Keys, layout: Layout) -> String {
    let mut json = Json { out: String::new(), keys, layout };
    json.write(value, 0);
    json.out
}

/// JSON that is being written.
struct Json {
    out: String,
    keys: Keys,
    layout: Layout,
}

impl Json {
    fn write(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) => _ = write!(self.out, "{number}"),
            Value::Float(number) if number.is_nan() => self.out.push_str("NaN"),
            Value::Float(number) if number.is_infinite() => {
                self.out.push_str(if *number > 0.0 { "Infinity" } else { "-Infinity" });
            }
            Value::Float(number) => self.out.push_str(&python::float(*number)),
            Value::Text(text) => self.text(text),
            Value::List(items) => self.list(items, depth),
            Value::Map(members) if self.keys == Keys::Sorted => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(key, _)| *key);
                self.map(members, depth);
            }
            Value::Map(members) => self.map(members.iter(), depth),
            Value::Unknown(_) => self.out.push_str("null"),
            Value::Secret(_) => self.text(HIDDEN),
        }
    }

    fn list(&mut self, items: &[Value], depth: usize) {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            self.between(at, depth + 1);
            self.write(item, depth + 1);
        }
        self.close(']', items.is_empty(), depth);
    }

    fn map<'v>(
        &mut self,
        members: impl IntoIterator<Item = (&'v Arc<str>, &'v Value)>,
        depth: usize,
    ) {
        self.out.push('{');
        let mut is_empty = true;
        for (at, (key, member)) in members.into_iter().enumerate() {
            is_empty = false;
            self.between(at, depth + 1);
            self.text(key);
            self.out.push_str(": ");
            self.write(member, depth + 1);
        }
        self.close('}', is_empty, depth);
    }

    fn between(&mut self, at: usize, depth: usize) {
        self.out.push_str(match (self.layout, at) {
            (_, 0) => "",
            (Layout::Indented, _) => ",",
            (Layout::Line | Layout::InCell, _) => ", ",
        });
        self.new_line(depth);
    }

    fn close(&mut self, bracket: char, is_empty: bool, depth: usize) {
        if !is_empty {
            self.new_line(depth);
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self, depth: usize) {
        if self.layout != Layout::Line {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", depth));
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        // Most texts need no escapes, and none is scanned character by character twice.
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
            let (plain, other) = rest.split_at(at);
            self.out.push_str(plain);
            let mut characters = other.chars();
            if let Some(c) = characters.next() {
                self.character(c);
            }
            rest = characters.as_str();
        }
        self.out.push_str(rest);
        self.out.push('"');
    }

    fn character(&mut self, c: char) {
        match c {
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '\u{8}' => self.out.push_str("\\b"),
            '\u{c}' => self.out.push_str("\\f"),
            c if self.layout == Layout::InCell && c >= ' ' => self.out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    _ = write!(self.out, "\\u{unit:04x}");
                }
            }
        }
    }
}

/// Whether a byte stands for itself in a JSON text, whatever the layout.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
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
        let map = Value::map([
            ("k", Value::list([1.into(), Value::map::<&str>([])])),
            ("e", "é𝄞\u{7f}\n".into()),
            ("n", Value::list([])),
        ]);
        assert_eq!(
            json(&map, Keys::Ordered),
            r#"{"k": [1, {}], "e": "\u00e9\ud834\udd1e\u007f\n", "n": []}"#
        );
        assert_eq!(
            json_with_layout(&map, Keys::Ordered, Layout::Indented),
            "{\n  \"k\": [\n    1,\n    {}\n  ],\n  \"e\": \"\\u00e9\\ud834\\udd1e\\u007f\\n\",\n  \"n\": []\n}"
        );
        let list = Value::list(["é\u{1}".into(), 2.into()]);
        assert_eq!(
            json_with_layout(&list, Keys::Ordered, Layout::InCell),
            "[\n  \"é\\u0001\", \n  2\n]"
        );
        let hidden = Value::list([Value::Secret(Secret::new("x".into()))]);
        assert_eq!(json(&hidden, Keys::Ordered), r#"["******"]"#);
    }
}
