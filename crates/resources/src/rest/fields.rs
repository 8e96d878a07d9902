//! Properties as fields of an object, and back.

use super::RestSpec;
use crate::declare::{Members, Name, Value};
use crate::property_access::open;
use crate::wire;
use kiln_template::schema::{Inner, Property};
use serde_json::{Map, Value as Json};

/// Properties as fields of a request. Null is omitted, or sent if `with_nulls`.
pub(crate) fn fields(
    spec: &RestSpec,
    schema: &[Property],
    properties: &Members,
    with_nulls: bool,
    is_sent: impl Fn(&str) -> bool,
) -> Map<String, Json> {
    let mut sent = Map::new();
    for property in schema.iter().filter(|property| is_sent(&property.name)) {
        if spec.unsent.contains(&property.name) || is_in_path(spec, &property.name) {
            continue;
        }
        let value = properties.get(&*property.name).unwrap_or(&Value::Null);
        if value.is_null() && !with_nulls {
            continue;
        }
        let path = property.name.to_string();
        sent.insert(field(spec, &path).to_string(), converted(spec, property, value, &path));
    }
    sent
}

/// Whether a property is part of the path, and so not a field.
fn is_in_path(spec: &RestSpec, property: &str) -> bool {
    spec.path.names().any(|name| name == property)
}

/// The field of a property.
pub(crate) fn field(spec: &RestSpec, path: &str) -> Name {
    match spec.field_names.iter().find(|(property, _)| property == path) {
        Some((_, field)) => field.clone(),
        None => path.rsplit('.').next().unwrap_or(path).to_owned().into(),
    }
}

fn converted(spec: &RestSpec, property: &Property, value: &Value, path: &str) -> Json {
    match (&property.inner, open(value)) {
        (Inner::Each(item), Value::List(items)) => {
            items.iter().map(|value| converted(spec, item, value, path)).collect()
        }
        (Inner::Members(members), Value::Map(values)) => {
            let declared = members.iter().filter_map(|member| {
                let value = values.get(&*member.name).filter(|value| !value.is_null())?;
                let path = format!("{path}.{}", member.name);
                let name = field(spec, &path).to_string();
                Some((name, converted(spec, member, value, &path)))
            });
            Json::Object(declared.collect())
        }
        (_, value) => wire::json(value),
    }
}
