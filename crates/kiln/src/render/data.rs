//! Data as JSON text: compact, or with a member on each line.
//!
//! Integers keep all their digits. Floats that JSON lacks are written as `NaN`, `Infinity` and `-Infinity`.

use kiln_yaql::{Data, python};
use std::fmt::Write;

/// The data as JSON.
pub(crate) fn json(data: &Data, is_pretty: bool) -> String {
    let mut out = String::new();
    write(&mut out, data, is_pretty.then_some(0));
    out
}

/// Writes data, indented if `depth` is given. The recursion is bounded by the depth of the data.
fn write(out: &mut String, data: &Data, depth: Option<usize>) {
    match data {
        Data::Null => out.push_str("null"),
        Data::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Data::Int(number) => _ = write!(out, "{number}"),
        Data::Float(number) if number.is_nan() => out.push_str("NaN"),
        Data::Float(number) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { "Infinity" } else { "-Infinity" });
        }
        Data::Float(number) => out.push_str(&python::float(*number)),
        Data::Text(text) => write_text(out, text),
        Data::List(items) => {
            write_members(out, '[', items, ']', depth, write);
        }
        Data::Map(members) => {
            write_members(out, '{', members, '}', depth, |out, (key, member), depth| {
                write_text(out, key);
                out.push_str(if depth.is_some() { ": " } else { ":" });
                write(out, member, depth);
            });
        }
    }
}

fn write_members<T>(
    out: &mut String,
    open: char,
    members: &[T],
    close: char,
    depth: Option<usize>,
    write_member: impl Fn(&mut String, &T, Option<usize>),
) {
    let inside = depth.map(|depth| depth + 1);
    out.push(open);
    for (at, member) in members.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        new_line(out, inside);
        write_member(out, member, inside);
    }
    if !members.is_empty() {
        new_line(out, depth);
    }
    out.push(close);
}

fn new_line(out: &mut String, depth: Option<usize>) {
    if let Some(depth) = depth {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_written_compactly_or_line_by_line() {
        let data = Data::Map(vec![
            ("a\n\u{9b}é".into(), Data::List(vec![Data::Int(1.into()), Data::Float(2.0)])),
            ("b".into(), Data::List(Vec::new())),
            ("c".into(), Data::Map(Vec::new())),
        ]);
        assert_eq!(json(&data, false), r#"{"a\n\u009bé":[1,2.0],"b":[],"c":{}}"#);
        assert_eq!(
            json(&data, true),
            "{\n  \"a\\n\\u009bé\": [\n    1,\n    2.0\n  ],\n  \"b\": [],\n  \"c\": {}\n}"
        );
    }
}
