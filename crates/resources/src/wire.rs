//! Between values of templates and what goes over the wire.

use crate::declare::Value;
use serde_json::{Map, Value as Json};

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

/// A text as one part of a path, whatever it holds.
pub fn segment(text: &str) -> String {
    kiln_template::files::url::percent_encode(text, &kiln_template::files::url::COMPONENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_template::Secret;
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
}
