//! Properties as fields of an object, and back.

use super::Plain;
use crate::declare::{Members, Name, Value};
use crate::given::open;
use crate::wire;
use kiln_template::schema::{Inner, Property};
use serde_json::{Map, Value as Json};

/// Properties as the service takes them. What is null is left out, or sent if `with_nulls`.
pub(crate) fn fields(
    plain: &Plain,
    schema: &[Property],
    properties: &Members,
    with_nulls: bool,
    is_sent: impl Fn(&str) -> bool,
) -> Map<String, Json> {
    let mut sent = Map::new();
    for property in schema.iter().filter(|property| is_sent(&property.name)) {
        if plain.unsent.contains(&property.name) || is_in_path(plain, &property.name) {
            continue;
        }
        let value = properties.get(&*property.name).unwrap_or(&Value::Null);
        if value.is_null() && !with_nulls {
            continue;
        }
        let path = property.name.to_string();
        sent.insert(field(plain, &path).to_string(), converted(plain, property, value, &path));
    }
    sent
}

/// Whether a property is part of the objects' path, and so not of what is sent.
fn is_in_path(plain: &Plain, property: &str) -> bool {
    plain.path.contains(&format!("{{{property}}}"))
}

/// The field that a property is sent in.
pub(crate) fn field(plain: &Plain, path: &str) -> Name {
    match plain.fields.iter().find(|(property, _)| property == path) {
        Some((_, field)) => field.clone(),
        None => path.rsplit('.').next().unwrap_or(path).to_owned().into(),
    }
}

fn converted(plain: &Plain, property: &Property, value: &Value, path: &str) -> Json {
    match (&property.inner, open(value)) {
        (Inner::Each(item), Value::List(items)) => {
            items.iter().map(|value| converted(plain, item, value, path)).collect()
        }
        (Inner::Members(members), Value::Map(values)) => {
            let given = members.iter().filter_map(|member| {
                let value = values.get(&*member.name).filter(|value| !value.is_null())?;
                let path = format!("{path}.{}", member.name);
                let name = field(plain, &path).to_string();
                Some((name, converted(plain, member, value, &path)))
            });
            Json::Object(given.collect())
        }
        (_, value) => wire::json(value),
    }
}

/// Those properties that an object shows otherwise than they should be, with what it shows.
///
/// Only what was given is looked at: what the service chose itself is as it should be.
pub fn drifted(
    plain: &Plain,
    schema: &[Property],
    properties: &Members,
    shown: &Value,
) -> Vec<(Name, Value)> {
    let Some(shown) = shown.as_map() else { return Vec::new() };
    let sent = fields(plain, schema, properties, false, |_| true);
    let mut drifted = Vec::new();
    for property in schema {
        let name = field(plain, &property.name);
        let (Some(sent), Some(found)) = (sent.get(&*name), shown.get(&*name)) else { continue };
        if !agrees(sent, &wire::json(found)) {
            drifted.push((property.name.clone(), found.clone()));
        }
    }
    drifted
}

/// Whether what is shown says all that was sent: it may say more, and lists may be in another order.
fn agrees(sent: &Json, shown: &Json) -> bool {
    match (sent, shown) {
        (Json::Object(sent), Json::Object(shown)) => sent
            .iter()
            .all(|(name, value)| shown.get(name).is_some_and(|shown| agrees(value, shown))),
        (Json::Array(sent), Json::Array(shown)) => {
            sent.len() == shown.len()
                && sent.iter().all(|value| shown.iter().any(|shown| agrees(value, shown)))
        }
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::String(a), Json::String(b)) => a == b || a.eq_ignore_ascii_case(b),
        (Json::String(text), Json::Number(number)) | (Json::Number(number), Json::String(text)) => {
            *text == number.to_string()
        }
        (sent, shown) => sent == shown,
    }
}
