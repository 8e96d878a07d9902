//! Between values of templates and what goes over the wire.

use crate::declare::Value;
use kiln_template::Secret;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// What a service sent, as a value.
pub fn value(json: &Json) -> Value {
    json.into()
}

/// A value as a service takes it. Secrets are laid open: this is where they are used.
///
/// What is not known is null, as are numbers that JSON has not: neither gets this far.
pub fn json(value: &Value) -> Json {
    match value {
        Value::Null | Value::Unknown(_) => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.to_f64().into(),
        },
        Value::Float(number) => (*number).into(),
        Value::Text(text) => Json::String(text.to_string()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(members) => Json::Object(
            members.iter().map(|(k, v)| (k.to_string(), json(v))).collect::<Map<_, _>>(),
        ),
        Value::Secret(secret) => json(secret.expose()),
    }
}

/// Where the secrets in a value are, for a receiver that has to hide them again: keys and indexes, as in a JSON pointer
/// without the first slash. The path of a value that is hidden as a whole is empty.
pub fn hidden_parts(value: &Value) -> Vec<String> {
    fn collect(value: &Value, path: &str, found: &mut Vec<String>) {
        let inner =
            |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}/{key}") };
        match value {
            Value::Secret(_) => found.push(path.to_owned()),
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    collect(item, &inner(&at.to_string()), found);
                }
            }
            Value::Map(members) => {
                for (key, item) in members.iter() {
                    collect(item, &inner(&escaped(key)), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

/// A value with the parts hidden that [`hidden_parts`] named. A path that leads nowhere hides the value before it.
pub fn hide_parts<'p>(value: Value, parts: impl IntoIterator<Item = &'p str>) -> Value {
    fn hide(value: Value, path: &str) -> Value {
        let (key, rest) = path.split_once('/').unwrap_or((path, ""));
        match value {
            Value::Map(mut members) if !path.is_empty() => {
                let found = members.keys().find(|name| escaped(name) == key).cloned();
                let Some(name) = found else {
                    return Value::Secret(Secret::new(Value::Map(members)));
                };
                let inner = Arc::make_mut(&mut members);
                let part = inner.get_mut(&name).map(std::mem::take).unwrap_or_default();
                inner.insert(name, hide(part, rest));
                Value::Map(members)
            }
            Value::List(mut items) if key.parse().is_ok_and(|at: usize| at < items.len()) => {
                if let Some(part) =
                    key.parse().ok().and_then(|at: usize| Arc::make_mut(&mut items).get_mut(at))
                {
                    *part = hide(std::mem::take(part), rest);
                }
                Value::List(items)
            }
            value => Value::Secret(Secret::new(value)),
        }
    }
    parts.into_iter().fold(value, hide)
}

/// A key in a path.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A text as one part of a path, whatever it holds.
pub fn segment(text: &str) -> String {
    kiln_template::files::url::percent_encode(text, &kiln_template::files::url::COMPONENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json as literal;

    #[test]
    fn what_comes_in_goes_out_again() {
        let sent = literal!({ "a": [1, -2.5, true, null, "é"], "b": {} });
        assert_eq!(json(&value(&sent)), sent);
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(segment("my key/é?"), "my%20key%2F%C3%A9%3F");
    }

    #[test]
    fn secrets_are_laid_open_for_the_service() {
        let secret = Value::Secret(Secret::new("hunter2".into()));
        assert_eq!(json(&Value::list([secret])), literal!(["hunter2"]));
    }

    #[test]
    fn what_was_hidden_can_be_hidden_again() {
        let secret = |text: &str| Value::Secret(Secret::new(text.into()));
        let value = Value::map([
            ("a/b~", secret("one")),
            ("list", Value::list(["x".into(), Value::map([("value", secret("two"))])])),
            ("", Value::from("plain")),
        ]);
        let parts = hidden_parts(&value);
        assert_eq!(parts, ["a~1b~0", "list/1/value"]);
        let parts = parts.iter().map(String::as_str);
        assert_eq!(hide_parts(value.exposed(), parts), value);
        assert_eq!(hide_parts(Value::from("x"), [""]), secret("x"));
        assert_eq!(hide_parts(Value::from("x"), ["gone/2"]), secret("x"));
    }
}
