//! Values as YAML, in the form that the reference writes: block style, keys by name, lines of about
//! eighty characters.

use kiln_template::limits::Limits;
use kiln_template::value::Members;
use kiln_template::{FileId, Value, print, yaml};
use std::sync::Arc;

/// The column after which texts are broken at their spaces.
const WIDTH: usize = 80;

/// A document.
pub(super) fn document(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Map(members) if !members.is_empty() => write_map(&mut out, members, 0, false),
        Value::List(items) if !items.is_empty() => write_list(&mut out, items, 0, false),
        scalar => {
            write_scalar(&mut out, scalar, 0, false);
            out.push('\n');
        }
    }
    out
}

/// Writes a map; the first line goes on where a list's dash left off.
fn write_map(out: &mut String, members: &Members, indent: usize, mut continues: bool) {
    let mut members: Vec<(&Arc<str>, &Value)> = members.iter().collect();
    members.sort_by_key(|(key, _)| *key);
    for (key, value) in members {
        if !std::mem::take(&mut continues) {
            push_indent(out, indent);
        }
        write_scalar(out, &Value::Text(key.clone()), indent, true);
        out.push(':');
        match value.exposed() {
            Value::Map(members) if !members.is_empty() => {
                out.push('\n');
                write_map(out, &members, indent + 2, false);
            }
            // Lists stand below their key without being indented.
            Value::List(items) if !items.is_empty() => {
                out.push('\n');
                write_list(out, &items, indent, false);
            }
            scalar => {
                out.push(' ');
                write_scalar(out, &scalar, indent + 2, false);
                out.push('\n');
            }
        }
    }
}

fn write_list(out: &mut String, items: &[Value], indent: usize, mut continues: bool) {
    for item in items {
        if !std::mem::take(&mut continues) {
            push_indent(out, indent);
        }
        out.push_str("- ");
        match item.exposed() {
            Value::Map(members) if !members.is_empty() => {
                write_map(out, &members, indent + 2, true)
            }
            Value::List(items) if !items.is_empty() => write_list(out, &items, indent + 2, true),
            scalar => {
                write_scalar(out, &scalar, indent + 2, false);
                out.push('\n');
            }
        }
    }
}

fn write_scalar(out: &mut String, value: &Value, indent: usize, is_key: bool) {
    match value {
        Value::Text(text) => write_text(out, text, indent, is_key),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::Float(number) if number.is_nan() => out.push_str(".nan"),
        Value::Float(number) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { ".inf" } else { "-.inf" });
        }
        Value::Float(_) => out.push_str(&print::plain(value)),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
        Value::Null | Value::Unknown(_) => out.push_str("null"),
        Value::Secret(secret) => write_scalar(out, &secret.expose().exposed(), indent, is_key),
    }
}

fn write_text(out: &mut String, text: &str, indent: usize, is_key: bool) {
    if needs_escapes(text) || (is_key && text.contains('\n')) {
        write_double_quoted(out, text);
    } else if is_plain(text) {
        write_folded(out, text, indent, is_key);
    } else {
        out.push('\'');
        write_folded(out, &text.replace('\'', "''"), indent, is_key);
        out.push('\'');
    }
}

/// Whether a text holds what only escapes can say, or would lose spaces where lines are broken.
fn needs_escapes(text: &str) -> bool {
    let is_special = |c: char| {
        (c != '\n' && c.is_control())
            || c == '\u{feff}'
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}')
            || !c.is_ascii()
    };
    text.chars().any(is_special) || text.contains(" \n") || text.contains("\n ")
}

/// Whether a text can stand without quotes and still is a text.
fn is_plain(text: &str) -> bool {
    const FIRST: &str = "#,[]{}&*!|>'\"%@`";
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return false };
    let second = characters.next();
    let starts_block = matches!(first, '-' | '?' | ':') && second.is_none_or(|c| c == ' ');
    !FIRST.contains(first)
        && !starts_block
        && !text.contains('\n')
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.contains(" #")
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !means_something_else(text)
}

/// Whether a reader would take the bare text for a number, a date, a truth or nothing.
fn means_something_else(text: &str) -> bool {
    // Our own reader knows neither dates nor these two words.
    if matches!(text, "=" | "<<") || is_date(text) {
        return true;
    }
    let (node, _) = yaml::read(FileId::default(), &format!("- {text}\n"), &Limits::default());
    node.is_none_or(|node| Value::from(&node) != Value::list([Value::from(text)]))
}

fn is_date(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = date.split('-').collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().all(is_number)
        && matches!(parts.as_slice(), [y, m, d]
            if y.len() == 4 && matches!(m.len(), 1 | 2) && matches!(d.len(), 1 | 2))
}

/// Writes a text with line breaks doubled, and broken at single spaces behind the last column.
fn write_folded(out: &mut String, text: &str, indent: usize, is_key: bool) {
    let start = out.rfind('\n').map_or(0, |at| at + 1);
    let mut column = out[start..].chars().count();
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    let mut breaks = false;
    while let Some(c) = characters.next() {
        let alone = before != ' ' && characters.peek().is_some_and(|next| *next != ' ');
        if c == '\n' {
            if !breaks {
                out.push('\n');
            }
            out.push('\n');
            breaks = true;
            if characters.peek() != Some(&'\n') {
                push_indent(out, indent);
                column = indent;
            }
        } else if c == ' ' && alone && column > WIDTH && !is_key && !breaks {
            out.push('\n');
            push_indent(out, indent);
            column = indent;
        } else {
            out.push(c);
            column += 1;
            breaks = false;
        }
        before = c;
    }
}

fn write_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{20}'..='\u{7e}' => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02X}", c as u32)),
            c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push_str(&format!("\\U{:08X}", c as u32)),
        }
    }
    out.push('"');
}

fn push_indent(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{list, map};

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        let texts = [
            ("l1\nl2", "'l1\n\n  l2'"),
            ("x\n\n\ny", "'x\n\n\n\n  y'"),
            ("\ttab", "\"\\ttab\""),
            ("é", "\"\\xE9\""),
            ("a \nb", "\"a \\nb\""),
            ("", "''"),
            ("- z", "'- z'"),
            ("-", "'-'"),
            ("a: b", "'a: b'"),
            ("1", "'1'"),
            ("1.5", "'1.5'"),
            ("null", "'null'"),
            ("~", "'~'"),
            ("2001-01-01", "'2001-01-01'"),
            ("0x1f", "'0x1f'"),
            ("1:30", "'1:30'"),
            ("=", "'='"),
            ("@a", "'@a'"),
            ("a#b", "a#b"),
            ("a #b", "'a #b'"),
            ("trail ", "'trail '"),
            ("no", "'no'"),
            ("a,b", "a,b"),
            ("it's", "it's"),
            ("it's: x", "'it''s: x'"),
            ("end:", "'end:'"),
            ("1e3", "1e3"),
        ];
        for (text, expected) in texts {
            assert_eq!(document(&list([text])), format!("- {expected}\n"), "{text:?}");
        }
    }

    #[test]
    fn documents_are_laid_out_as_the_reference_lays_them_out() {
        let value = map([
            (
                "users",
                list([
                    Value::from("default"),
                    map([
                        ("name", Value::from("bob")),
                        ("n", 1.into()),
                        ("f", 1.5.into()),
                        ("m", "a\nb\n".into()),
                        ("l", Value::list([])),
                        ("d", Value::map::<&str>([])),
                        ("z", Value::Null),
                    ]),
                    list([list(["y"])]),
                ]),
            ),
            ("apt", map([("j", list([true]))])),
        ]);
        let expected = "apt:\n  j:\n  - true\nusers:\n- default\n- d: {}\n  f: 1.5\n  l: []\n  m: 'a\n\n    \
                        b\n\n    '\n  n: 1\n  name: bob\n  z: null\n- - - y\n";
        assert_eq!(document(&value), expected);
        assert_eq!(document(&Value::Null), "null\n");
    }

    #[test]
    fn long_texts_are_broken_at_spaces() {
        let value = map([("a", "x ".repeat(60) + "end")]);
        let expected = format!("a: {}x\n  {}end\n", "x ".repeat(39), "x ".repeat(20));
        assert_eq!(document(&value), expected);
    }
}
