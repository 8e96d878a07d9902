//! One parameter's values from two files combined by a strategy.

use super::strategy::Strategy;
use crate::json;
use crate::parameters::ParameterType;
use crate::value::{Members, Value};
use std::sync::Arc;

/// The two values combined; nothing if the strategy does not fit them.
pub fn combine(kind: ParameterType, strategy: Strategy, old: &Value, new: &Value) -> Option<Value> {
    if strategy == Strategy::Overwrite || old.is_null() {
        return Some(new.clone());
    }
    match kind {
        ParameterType::Number | ParameterType::Boolean => None,
        ParameterType::String => Some(concatenated(old.as_text()?, new.as_text()?)),
        ParameterType::CommaDelimitedList => match (old, new) {
            (Value::Text(_) | Value::List(_), Value::Text(_) | Value::List(_))
                if !old.is_truthy() =>
            {
                Some(new.clone())
            }
            (Value::Text(old), Value::Text(new)) => Some(Value::text(format!("{old},{new}"))),
            _ => Some(extended(&list_items(old)?, &list_items(new)?)),
        },
        ParameterType::Json => {
            let mut members = if old.is_truthy() { json_map(old)? } else { Members::new() };
            update(&mut members, &json_map(new)?, strategy == Strategy::DeepMerge)?;
            Some(Value::Map(Arc::new(members)))
        }
    }
}

fn concatenated(old: &str, new: &str) -> Value {
    Value::text([old, new].concat())
}

fn extended(old: &[Value], new: &[Value]) -> Value {
    Value::list(old.iter().chain(new).cloned())
}

/// The members of a list parameter's value.
fn list_items(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(items) => Some(items.to_vec()),
        Value::Text(text) => Some(text.split(',').map(Value::from).collect()),
        _ => None,
    }
}

/// The members of a json parameter's value, which may be a map or the text of one.
fn json_map(value: &Value) -> Option<Members> {
    match value {
        Value::Map(members) => Some(Members::clone(members)),
        Value::Text(text) => json::parse(text).ok()?.as_map().cloned(),
        _ => None,
    }
}

/// Updates a map by another one's members, nulls excepted. Both are as deep as a document may be.
fn update(old: &mut Members, new: &Members, deep: bool) -> Option<()> {
    for (key, value) in new.iter().filter(|(_, value)| !value.is_null()) {
        let merged = match (old.get(key), value) {
            (None | Some(Value::Null), _) => value.clone(),
            _ if !deep => value.clone(),
            (Some(Value::Map(old)), Value::Map(new)) => {
                let mut members = Members::clone(old);
                update(&mut members, new, deep)?;
                Value::Map(Arc::new(members))
            }
            (Some(Value::List(old)), Value::List(new)) => extended(old, new),
            (Some(Value::Text(old)), Value::Text(new)) => concatenated(old, new),
            (_, Value::Map(_) | Value::List(_) | Value::Text(_)) => return None,
            _ => value.clone(),
        };
        old.insert(key.clone(), merged);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixture::environment;
    use crate::print;

    #[test]
    fn strategies_combine_values_by_type() {
        let value = |text: &str| {
            environment(&format!("parameters: {{v: {text}}}")).parameters["v"].value.clone()
        };
        use ParameterType::{Boolean, CommaDelimitedList as List, Json, Number, String};
        for (kind, old, new, merge, deep) in [
            (String, "one", "two", "onetwo", "onetwo"),
            (String, "x", "''", "x", "x"),
            (String, "1", "2", "-", "-"),
            (String, "[a]", "[b]", "-", "-"),
            (Number, "1", "2", "-", "-"),
            (Number, "'1'", "'2'", "-", "-"),
            (Boolean, "'true'", "'false'", "-", "-"),
            (List, "'a,b'", "d", "a,b,d", "a,b,d"),
            (List, "[a]", "[b]", "['a', 'b']", "['a', 'b']"),
            (List, "[a, [x]]", "[b]", "['a', ['x'], 'b']", "['a', ['x'], 'b']"),
            (List, "''", "b", "b", "b"),
            (List, "[]", "b", "b", "b"),
            (List, "a", "''", "a,", "a,"),
            (List, "[a]", "'b,c'", "['a', 'b', 'c']", "['a', 'b', 'c']"),
            (List, "a", "[b]", "['a', 'b']", "['a', 'b']"),
            (List, "5", "6", "-", "-"),
            (
                Json,
                "{x: {p: 1}, y: [1]}",
                "{x: {q: 2}, y: [2]}",
                "{'x': {'q': 2}, 'y': [2]}",
                "{'x': {'p': 1, 'q': 2}, 'y': [1, 2]}",
            ),
            (Json, "{z: 5, w: a}", "{z: 6, w: b}", "{'z': 6, 'w': 'b'}", "{'z': 6, 'w': 'ab'}"),
            (Json, "{x: 1}", "'{\"y\": 2}'", "{'x': 1, 'y': 2}", "{'x': 1, 'y': 2}"),
            (Json, "'{\"x\": 1}'", "{y: 2}", "{'x': 1, 'y': 2}", "{'x': 1, 'y': 2}"),
            (Json, "''", "'{}'", "{}", "{}"),
            (Json, "{x: {a: 1}}", "{x: ~}", "{'x': {'a': 1}}", "{'x': {'a': 1}}"),
            (Json, "{x: ~}", "{x: {a: 1}}", "{'x': {'a': 1}}", "{'x': {'a': 1}}"),
            (
                Json,
                "{x: {a: {b: ~}}}",
                "{x: {a: {b: 1, c: ~}}}",
                "{'x': {'a': {'b': 1, 'c': None}}}",
                "{'x': {'a': {'b': 1}}}",
            ),
            (
                Json,
                "{x: [{a: 1}]}",
                "{x: [{a: 2}]}",
                "{'x': [{'a': 2}]}",
                "{'x': [{'a': 1}, {'a': 2}]}",
            ),
            (Json, "{x: {a: 1}}", "{x: 1}", "{'x': 1}", "{'x': 1}"),
            (Json, "{x: a}", "{x: 1}", "{'x': 1}", "{'x': 1}"),
            (Json, "{x: 1}", "{x: a}", "{'x': 'a'}", "-"),
            (Json, "{x: [1]}", "{x: a}", "{'x': 'a'}", "-"),
            (Json, "{x: {a: 1}}", "{x: [1]}", "{'x': [1]}", "-"),
            (Json, "[1]", "[2]", "-", "-"),
            (Json, "{x: 1}", "bad", "-", "-"),
        ] {
            let (old, new) = (value(old), value(new));
            for (strategy, expected) in [(Strategy::Merge, merge), (Strategy::DeepMerge, deep)] {
                let found = combine(kind, strategy, &old, &new);
                let found = found.map_or("-".to_owned(), |value| print::plain(&value));
                assert_eq!(found, expected, "{kind:?} {strategy:?} {old:?} {new:?}");
            }
            assert_eq!(combine(kind, Strategy::Overwrite, &old, &new), Some(new));
        }
    }
}
