//! OS::Heat::Value: a value, named so that other resources and outputs can refer to it.

use crate::declare::*;
use kiln_template::functions::step_into_attribute;
use kiln_template::property;

pub(super) fn value() -> ResourceType {
    ResourceType::new("OS::Heat::Value")
        .about("A value, named so that other resources and outputs can refer to it.")
        .since("7.0.0")
        .props([
            prop("type", Str, "Data type that the value must have; it is never converted.")
                .updatable()
                .one_of(["string", "number", "comma_delimited_list", "json", "boolean"]),
            prop("value", Any, "Value to keep, often computed from other resources.")
                .required()
                .updatable(),
        ])
        .attrs([attr("value", None, "Value that was given in the template.")])
        .check(value_is_of_its_type)
        .without_object()
        .attributes(|view, name, path| {
            let value = (name == "value").then(|| view.properties.get("value")).flatten();
            Ok(value.map(|value| step_into_attribute(value, path)))
        })
}

/// Checks that `value` has the type `type`; it is not converted.
fn value_is_of_its_type(properties: &Members) -> Result<(), PropertyError> {
    let kind = match properties.get("type").and_then(Value::as_text).map(|text| &**text) {
        Some("string") => Str,
        Some("number") => Num,
        Some("comma_delimited_list") => List,
        Some("json") => Map,
        Some("boolean") => Bool,
        _ => return Ok(()),
    };
    let value = properties.get("value").unwrap_or(&Value::Null);
    match property::type_error(kind, value) {
        Some(message) => Err(PropertyError::for_property("value", message)),
        None => Ok(()),
    }
}
