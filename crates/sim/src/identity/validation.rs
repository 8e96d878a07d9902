//! Validation of request bodies.

use serde_json::{Map, Value};

use super::error::ApiError;
use crate::python;

/// The type of a field.
#[derive(Clone, Copy)]
pub(super) enum FieldType {
    /// A non-blank text of at most this many characters.
    Name(usize),
    /// Text.
    Text,
    /// Text or null.
    Note,
    /// A boolean, or a text for one.
    Flag,
    /// A boolean or null.
    Switch,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An integer of at least one, or null.
    Count,
    /// A list of objects.
    Objects,
    /// A list of texts of 1 to 255 characters without commas and slashes.
    Tags,
    /// An object with these boolean options.
    Options(&'static [&'static str]),
}

/// A field: its name, its type, and whether it is required.
pub(super) type Field = (&'static str, FieldType, bool);

/// Returns the object under the only key of the body, after validating its fields. Other fields are ignored.
pub(super) fn object<'a>(
    body: &'a Value,
    key: &str,
    fields: &[Field],
) -> Result<&'a Map<String, Value>, ApiError> {
    let map = body.as_object().ok_or_else(|| required(key))?;
    let value = map.get(key).ok_or_else(|| required(key))?;
    if let Some(other) = map.keys().find(|name| *name != key) {
        return Err(ApiError::bad(format!(
            "Additional properties are not allowed ({} was unexpected)",
            python::repr(&Value::from(other.as_str()))
        )));
    }
    let object = value.as_object().ok_or_else(|| not_of(key, value, &["object"]))?;
    for (name, field_type, must) in fields {
        match object.get(*name) {
            Some(value) => check(name, *field_type, value)?,
            None if *must => {
                return Err(invalid(key, value, &format!("'{name}' is a required property")));
            }
            None => {}
        }
    }
    Ok(object)
}

/// Like [`object`], but rejects an empty object.
pub(super) fn non_empty_object<'a>(
    body: &'a Value,
    key: &str,
    fields: &[Field],
) -> Result<&'a Map<String, Value>, ApiError> {
    let object = object(body, key, fields)?;
    if object.is_empty() {
        return Err(invalid(key, &body[key], "{} should be non-empty"));
    }
    Ok(object)
}

/// Returns the text of a validated field.
pub(super) fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}

/// Returns the boolean of a validated field.
pub(super) fn flag(object: &Map<String, Value>, name: &str) -> Option<bool> {
    match object.get(name)? {
        Value::Bool(flag) => Some(*flag),
        Value::String(word) => parse_bool(word),
        _ => None,
    }
}

/// Parses the texts that Keystone accepts as booleans.
pub(super) fn parse_bool(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "" | "1" | "y" | "on" | "yes" => Some(true),
        "false" | "0" | "n" | "off" | "no" => Some(false),
        _ => None,
    }
}

/// Returns the fields of a validated object that are not among the known ones.
pub(super) fn extra_fields(object: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let unknown = object.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Reports an invalid field in Keystone's wording.
pub(super) fn invalid(field: &str, value: &Value, why: &str) -> ApiError {
    let rendered = match value {
        Value::String(text) => text.clone(),
        other => python::repr(other),
    };
    ApiError::bad(format!("Invalid input for field/attribute {field}. Value: {rendered}. {why}"))
}

fn check(name: &str, field_type: FieldType, value: &Value) -> Result<(), ApiError> {
    match (field_type, value) {
        (FieldType::Name(most), Value::String(text)) => check_name(name, most, text, value),
        (FieldType::Text, Value::String(_)) | (FieldType::Note, Value::String(_) | Value::Null) => {
            Ok(())
        }
        (FieldType::Name(_) | FieldType::Text, _) => Err(not_of(name, value, &["string"])),
        (FieldType::Note, _) => Err(not_of(name, value, &["string", "null"])),
        (FieldType::Flag, Value::Bool(_)) | (FieldType::Switch, Value::Bool(_) | Value::Null) => {
            Ok(())
        }
        (FieldType::Flag, Value::String(word)) if parse_bool(word).is_some() => Ok(()),
        (FieldType::Flag, _) => Err(not_of(name, value, &["boolean", "string", "null"])),
        (FieldType::Switch, _) => Err(not_of(name, value, &["boolean", "null"])),
        (FieldType::OneOf(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
        (FieldType::OneOf(words), _) => {
            let list: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            let why = format!("{} is not one of [{}]", python::repr(value), list.join(", "));
            Err(invalid(name, value, &why))
        }
        (FieldType::Count, Value::Null) => Ok(()),
        (FieldType::Count, value) => match value.as_i64() {
            Some(count) if count >= 1 => Ok(()),
            Some(count) => {
                Err(invalid(name, value, &format!("{count} is less than the minimum of 1")))
            }
            None => Err(not_of(name, value, &["integer", "null"])),
        },
        (FieldType::Options(known), Value::Object(object)) => {
            check_options(name, known, object, value)
        }
        (FieldType::Options(_), _) => Err(not_of(name, value, &["object"])),
        (FieldType::Objects | FieldType::Tags, Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| check_item(&at.to_string(), field_type, item)),
        (FieldType::Objects | FieldType::Tags, _) => Err(not_of(name, value, &["array"])),
    }
}

fn check_name(name: &str, most: usize, text: &str, value: &Value) -> Result<(), ApiError> {
    if text.is_empty() {
        return Err(invalid(name, value, "'' should be non-empty"));
    }
    if text.chars().count() > most {
        return Err(invalid(name, value, &format!("{} is too long", python::repr(value))));
    }
    if text.trim().is_empty() {
        return Err(invalid(
            name,
            value,
            &format!("{} does not match '[\\\\S]+'", python::repr(value)),
        ));
    }
    Ok(())
}

fn check_options(
    name: &str,
    known: &[&str],
    object: &Map<String, Value>,
    value: &Value,
) -> Result<(), ApiError> {
    for (option, setting) in object {
        if !known.contains(&option.as_str()) {
            let why = format!("Additional properties are not allowed ('{option}' was unexpected)");
            return Err(invalid(name, value, &why));
        }
        let list = option == "multi_factor_auth_rules" && setting.is_array();
        if !(setting.is_boolean() || setting.is_null() || list) {
            return Err(not_of(option, setting, &["boolean", "null"]));
        }
    }
    Ok(())
}

fn check_item(at: &str, field_type: FieldType, item: &Value) -> Result<(), ApiError> {
    match (field_type, item) {
        (FieldType::Objects, Value::Object(_)) => Ok(()),
        (FieldType::Objects, _) => Err(not_of(at, item, &["object"])),
        (_, Value::String(tag)) if tag.contains([',', '/']) => {
            Err(invalid(at, item, &format!("{} does not match '^[^,/]*$'", python::repr(item))))
        }
        (_, Value::String(tag)) if tag.is_empty() || tag.chars().count() > 255 => {
            Err(invalid(at, item, "a tag has 1 to 255 characters"))
        }
        (_, Value::String(_)) => Ok(()),
        _ => Err(not_of(at, item, &["string"])),
    }
}

fn required(key: &str) -> ApiError {
    ApiError::bad(format!("'{key}' is a required property"))
}

fn not_of(field: &str, value: &Value, types: &[&str]) -> ApiError {
    let types: Vec<String> = types.iter().map(|word| format!("'{word}'")).collect();
    invalid(field, value, &format!("{} is not of type {}", python::repr(value), types.join(", ")))
}
