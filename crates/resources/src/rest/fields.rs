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
