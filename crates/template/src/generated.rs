//! Templates that the service generates from values.
//!
//! A template is text, and text hides nothing; nor can it hold a value that is not known yet. Such
//! values are passed to the template as parameters.

use crate::value::{Members, Value};
use std::sync::Arc;

/// A generated template with a hidden parameter in place of every value that is `apart`, and the
/// values of these parameters.
pub fn with_parameters(template: &Value, is_apart: fn(&Value) -> bool) -> (Value, Members) {
    let mut apart = Members::new();
    let Some(members) = template.as_map() else { return (template.clone(), apart) };
    let is_hot = members.contains_key("heat_template_version");
    let words = if is_hot { HOT_WORDS } else { CFN_WORDS };
    let Value::Map(mut open) = replaced(template, is_apart, &words, &mut apart) else {
        return (template.clone(), apart);
    };
    if apart.is_empty() {
        return (template.clone(), apart);
    }
    let declared = apart.iter().map(|(name, value)| {
        let kind = match value.exposed() {
            Value::Bool(_) => words.boolean,
            Value::Int(_) | Value::Float(_) => words.number,
            Value::List(_) | Value::Map(_) => words.json,
            _ => words.string,
        };
        (name.clone(), Value::map([(words.kind, kind.into()), (words.hidden, true.into())]))
    });
    let parameters = members.get(words.parameters).and_then(Value::as_map).into_iter().flatten();
    let parameters = parameters.map(|(name, value)| (name.clone(), value.clone()));
    let parameters = Value::map(parameters.chain(declared));
    Arc::make_mut(&mut open).insert(words.parameters.into(), parameters);
    (Value::Map(open), apart)
}

/// How a language declares and uses a hidden parameter.
struct Words {
    parameters: &'static str,
    use_of: &'static str,
    kind: &'static str,
    hidden: &'static str,
    string: &'static str,
    number: &'static str,
    boolean: &'static str,
    json: &'static str,
}

const HOT_WORDS: Words = Words {
    parameters: "parameters",
    use_of: "get_param",
    kind: "type",
    hidden: "hidden",
    string: "string",
    number: "number",
    boolean: "boolean",
    json: "json",
};

const CFN_WORDS: Words = Words {
    parameters: "Parameters",
    use_of: "Ref",
    kind: "Type",
    hidden: "NoEcho",
    string: "String",
    number: "Number",
    boolean: "Boolean",
    json: "Json",
};

fn replaced(
    value: &Value,
    is_apart: fn(&Value) -> bool,
    words: &Words,
    apart: &mut Members,
) -> Value {
    match value {
        value if is_apart(value) => {
            let name: Arc<str> = format!("hidden_{}", apart.len()).into();
            apart.insert(name.clone(), value.clone());
            Value::map([(words.use_of, Value::Text(name))])
        }
        Value::List(items) => Value::list(
            items.iter().map(|it| replaced(it, is_apart, words, apart)).collect::<Vec<_>>(),
        ),
        Value::Map(members) => {
            let inside =
                members.iter().map(|(k, it)| (k.clone(), replaced(it, is_apart, words, apart)));
            Value::map(inside.collect::<Vec<_>>())
        }
        plain => plain.clone(),
    }
}
