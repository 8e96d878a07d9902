//! JSON for values, with tags for what JSON lacks: `{"!float": "1.0"}`, `{"!set": [...]}`.

use kiln_yaql::{Data, Value, python};
use serde_json::{Value as Json, json};

pub fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => (*truth).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap().into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::list(items.iter().map(value)),
        Json::Object(entries) => Value::map(entries.iter().map(|(k, v)| (k.as_str(), value(v)))),
    }
}

pub fn tagged(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => json!(truth),
        Value::Int(number) => match number.as_i64() {
            Some(small) if small.abs() < 1 << 53 => json!(small),
            _ => json!({"!int": number.to_string()}),
        },
        Value::Float(number) => json!({"!float": python::float(*number)}),
        Value::Text(text) => json!(&**text),
        Value::List(list) => list.items().iter().map(tagged).collect(),
        Value::Map(map) => {
            let plain =
                |(key, _): (&Value, &Value)| matches!(key, Value::Text(t) if !t.starts_with('!'));
            if map.iter().all(plain) {
                let entry = |(key, value): (&Value, &Value)| match key {
                    Value::Text(key) => (key.to_string(), tagged(value)),
                    _ => unreachable!(),
                };
                Json::Object(map.iter().map(entry).collect())
            } else {
                let pair = |(key, value): (&Value, &Value)| json!([tagged(key), tagged(value)]);
                json!({"!map": map.iter().map(pair).collect::<Vec<_>>()})
            }
        }
        Value::Set(set) => {
            let mut members: Vec<Json> = set.iter().map(tagged).collect();
            members.sort_by_key(Json::to_string);
            json!({"!set": members})
        }
        Value::Date(date) => json!({"!date": date.to_string().replacen(' ', "T", 1)}),
        Value::Span(span) => json!({"!span": span.microseconds().to_string()}),
        other => json!({"!other": other.type_name()}),
    }
}

pub fn plain(data: &Data) -> Json {
    match data {
        Data::Null => Json::Null,
        Data::Bool(truth) => json!(truth),
        Data::Int(number) => json!(number.as_i64().unwrap()),
        Data::Float(number) => json!(number),
        Data::Text(text) => json!(&**text),
        Data::List(items) => items.iter().map(plain).collect(),
        Data::Map(entries) => {
            Json::Object(entries.iter().map(|(k, v)| (k.to_string(), plain(v))).collect())
        }
    }
}
