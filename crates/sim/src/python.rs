//! Values as Python prints them, which is how the services show values in their messages.

use serde_json::Value;

/// Formats a value like Python's `repr`. The JSON parser bounds the depth of the recursion.
pub(crate) fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => repr_text(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(object) => {
            let pairs =
                object.iter().map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Formats a text with the quotes that Python chooses.
fn repr_text(text: &str) -> String {
    if text.contains('\'') && !text.contains('"') {
        return format!("\"{text}\"");
    }
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Formats words like a Python list of strings.
pub(crate) fn repr_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_printed_as_python_prints_them() {
        let value = json!({ "a": [1, true, null], "it's": "it's", "b": "\\ ' \"" });
        assert_eq!(repr(&value), r#"{'a': [1, True, None], "it's": "it's", 'b': '\\ \' "'}"#);
        assert_eq!(repr_list(&["x", "y"]), "['x', 'y']");
    }
}
