//! JSON as the older tools print, merge and query it.

use serde_json::{Map, Value};
use std::fmt::Write;

/// The layout of printed JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// One line with blanks after commas and colons, because scripts compare the text.
    Line,
    /// One member per line, with this indentation.
    Indented(usize),
    /// Like `Indented`, with sorted keys.
    Sorted(usize),
}

/// Prints a value.
pub(crate) fn print(value: &Value, style: Style) -> String {
    let mut text = String::new();
    write(&mut text, value, style, 0);
    text
}

fn write(text: &mut String, value: &Value, style: Style, depth: usize) {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| (None, item)).collect();
            members(text, ('[', ']'), &items, style, depth);
        }
        Value::Object(map) => {
            let mut all: Vec<_> =
                map.iter().map(|(key, value)| (Some(key.as_str()), value)).collect();
            if matches!(style, Style::Sorted(_)) {
                all.sort_by_key(|(key, _)| *key);
            }
            members(text, ('{', '}'), &all, style, depth);
        }
        other => _ = write!(text, "{other}"),
    }
}

fn members(
    text: &mut String,
    (open, close): (char, char),
    all: &[(Option<&str>, &Value)],
    style: Style,
    depth: usize,
) {
    let line = |text: &mut String, depth: usize| match style {
        Style::Line => {}
        Style::Indented(width) | Style::Sorted(width) => {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', width * depth));
        }
    };
    text.push(open);
    for (at, (key, value)) in all.iter().enumerate() {
        if at > 0 {
            text.push_str(if style == Style::Line { ", " } else { "," });
        }
        line(text, depth + 1);
        if let Some(key) = key {
            _ = write!(text, "{}: ", Value::from(*key));
        }
        write(text, value, style, depth + 1);
    }
    if !all.is_empty() {
        line(text, depth);
    }
    text.push(close);
}

/// Returns a scalar as text and other values as JSON; null is empty.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => print(other, Style::Line),
    }
}

/// Merges one value into another: maps are merged, other values are replaced.
pub(crate) fn merge(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                match under.get_mut(key) {
                    Some(known) => merge(known, value),
                    None => _ = under.insert(key.clone(), value.clone()),
                }
            }
        }
        (under, over) => *under = over.clone(),
    }
}

/// Returns the value at a path of keys and positions; null counts as missing.
pub(crate) fn find<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    let mut at = value;
    for step in path {
        at = match at {
            Value::Object(map) => map.get(*step)?,
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at).filter(|it| !it.is_null())
}

/// Returns the text under a key; other values count as missing.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// Returns the map in a value.
pub(crate) fn map(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object()
}

/// Reports whether a value is true: `true`, or a text or a number that stands for it.
pub(crate) fn is_true(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(is)) => *is,
        Some(value) => ["true", "yes", "1"].contains(&plain(value).to_lowercase().as_str()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn printed_as_scripts_compare_it() {
        let value = json!({"b": [{"a": 1}, []], "a": {"x": "<\"é\">"}, "e": {}});
        assert_eq!(
            print(&value, Style::Line),
            r#"{"b": [{"a": 1}, []], "a": {"x": "<\"é\">"}, "e": {}}"#
        );
        assert_eq!(
            print(&json!({"b": [1], "a": {}}), Style::Sorted(4)),
            "{\n    \"a\": {},\n    \"b\": [\n        1\n    ]\n}"
        );
    }

    #[test]
    fn maps_merge_and_the_rest_replaces() {
        let mut under = json!({"a": {"x": 1, "y": [1, 2]}, "b": 1});
        merge(&mut under, &json!({"a": {"y": [3], "z": null}, "c": 2}));
        assert_eq!(under, json!({"a": {"x": 1, "y": [3], "z": null}, "b": 1, "c": 2}));
        assert_eq!(find(&under, &["a", "y", "0"]), Some(&json!(3)));
        assert_eq!(find(&under, &["a", "z"]), None);
    }
}
