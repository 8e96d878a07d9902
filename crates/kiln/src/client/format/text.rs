//! Values as text: as Python prints them, and JSON in the layout of Python's standard library.

use kiln_resources::wire;
pub(crate) use kiln_template::print::Layout as Json;
use kiln_template::print::{self, Keys};
use kiln_yaql::python;
use serde_json::{Number, Value};
use std::fmt::Write;

/// A value as Python prints it: strings unquoted, `None`, `True`, `{'k': [1]}`.
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

/// Names as Python prints a list of strings: `['a', 'b']`.
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

/// A value as JSON, without a final line feed.
pub(crate) fn json(value: &Value, layout: Json) -> String {
    print::json_with_layout(&wire::value(value), Keys::Ordered, layout)
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
}
