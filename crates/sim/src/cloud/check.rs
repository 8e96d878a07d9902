//! Validation of request bodies against the fields of a collection.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::request::{Refusal, RequestContext};
use super::schema::{DefaultValue, Field, FieldType, ParsedCollection};
use super::table::Obj;

/// Builds the object that a create request describes, before the service completes it.
pub(super) fn validate_creation(
    ctx: &RequestContext<'_>,
    parsed: &ParsedCollection,
    sent: &Obj,
) -> Result<Obj, Refusal> {
    let collection = parsed.collection;
    check_known_fields(parsed, sent)?;
    let mut row = Obj::new();
    for field in &parsed.fields {
        let value = sent.get(field.name);
        if let Some(value) = value {
            if !field.on_create {
                return Err(collection.dialect.read_only_field(collection, field.name, true));
            }
            let value = validate_value(ctx, parsed, field, value)?;
            check_permission(ctx, parsed, field, &value, "create")?;
            row.insert(field.name.to_owned(), value);
            continue;
        }
        let value = match &field.default {
            DefaultValue::Required => {
                return Err(collection.dialect.missing_field(collection, field.name, sent));
            }
            DefaultValue::Absent => continue,
            DefaultValue::Is(value) => value.clone(),
            DefaultValue::Project => json!(ctx.caller.project),
            DefaultValue::User => json!(ctx.caller.user),
            DefaultValue::Now => json!(ctx.state.timestamp()),
        };
        row.insert(field.name.to_owned(), value);
    }
    Ok(row)
}

/// Returns the changes that an update request makes.
pub(super) fn validate_update(
    ctx: &RequestContext<'_>,
    parsed: &ParsedCollection,
    old: &Obj,
    sent: &Obj,
) -> Result<Obj, Refusal> {
    let collection = parsed.collection;
    check_known_fields(parsed, sent)?;
    let mut changes = Obj::new();
    for field in &parsed.fields {
        let Some(value) = sent.get(field.name) else { continue };
        if !field.on_update {
            return Err(collection.dialect.read_only_field(collection, field.name, false));
        }
        let value = validate_value(ctx, parsed, field, value)?;
        if old.get(field.name) != Some(&value) {
            check_permission(ctx, parsed, field, &value, "update")?;
        }
        changes.insert(field.name.to_owned(), value);
    }
    Ok(changes)
}

fn check_known_fields(parsed: &ParsedCollection, sent: &Obj) -> Result<(), Refusal> {
    let strange: Vec<&str> =
        sent.keys().map(String::as_str).filter(|name| parsed.field(name).is_none()).collect();
    if strange.is_empty() {
        return Ok(());
    }
    Err(parsed.collection.dialect.unknown_fields(parsed.collection, &strange, sent))
}

fn check_permission(
    ctx: &RequestContext<'_>,
    parsed: &ParsedCollection,
    field: &Field,
    value: &Value,
    action: &str,
) -> Result<(), Refusal> {
    let usual = matches!(&field.default, DefaultValue::Is(usual) if usual == value);
    if !field.by_admin || ctx.caller.is_admin || (usual && action == "create") {
        return Ok(());
    }
    Err(parsed.collection.dialect.forbidden(parsed.collection, &format!("{action}:{}", field.name)))
}

/// Converts a value to the type of its field.
fn validate_value(
    ctx: &RequestContext<'_>,
    parsed: &ParsedCollection,
    field: &Field,
    value: &Value,
) -> Result<Value, Refusal> {
    let collection = parsed.collection;
    if value.is_null() && field.takes_null() {
        return Ok(Value::Null);
    }
    let fitted = convert(&field.field_type, value, collection.dialect.is_lenient())
        .ok_or_else(|| collection.dialect.invalid_value(collection, field, value))?;
    if let (FieldType::Ref(target), Some(key)) = (&field.field_type, fitted.as_str())
        && let Some(target) = ctx.state.collection(target)
    {
        let row = ctx.state.get(target.name, key).filter(|row| ctx.sees(target, row));
        if row.is_none() {
            return Err(collection.dialect.dangling_reference(collection, field, target, key));
        }
    }
    Ok(fitted)
}

/// Converts a value to a type; `None` if it does not have that type.
pub(super) fn convert(kind: &FieldType, value: &Value, is_lenient: bool) -> Option<Value> {
    let holds = match (kind, value) {
        (FieldType::Any, _) => true,
        (FieldType::Int, Value::Number(number)) => number.is_i64() || number.is_u64(),
        (FieldType::Number, Value::Number(_))
        | (FieldType::Bool, Value::Bool(_))
        | (FieldType::List, Value::Array(_))
        | (FieldType::Map, Value::Object(_))
        | (FieldType::Text | FieldType::Ref(_), Value::String(_)) => true,
        (FieldType::Ip, Value::String(text)) => text.parse::<IpAddr>().is_ok(),
        (FieldType::Cidr, Value::String(text)) => is_cidr(text),
        (FieldType::Mac, Value::String(text)) => return parse_mac(text).map(Value::String),
        (FieldType::Uuid, Value::String(text)) => is_uuid(text),
        (FieldType::OneOf(strings), Value::String(text)) => strings.contains(&text.as_str()),
        _ => false,
    };
    if holds {
        return Some(value.clone());
    }
    if !is_lenient {
        return None;
    }
    match (kind, value) {
        (FieldType::Int, Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        (FieldType::Bool, Value::String(text)) => parse_bool(text).map(Value::Bool),
        (FieldType::Bool, Value::Number(number)) if number.as_i64() == Some(0) => {
            Some(json!(false))
        }
        (FieldType::Bool, Value::Number(number)) if number.as_i64() == Some(1) => Some(json!(true)),
        (FieldType::OneOf(strings), Value::String(text)) => {
            let word = strings.iter().find(|word| word.eq_ignore_ascii_case(text))?;
            Some(json!(word))
        }
        (FieldType::OneOf(strings), Value::Number(number)) => {
            strings.contains(&number.to_string().as_str()).then(|| value.clone())
        }
        _ => None,
    }
}

/// Parses the words that services accept for true and false.
pub(super) fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "t" | "yes" | "on" => Some(true),
        "false" | "0" | "f" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let longest = if address.is_ipv4() { 32 } else { 128 };
    length.parse::<u8>().is_ok_and(|length| length <= longest)
}

/// Normalizes a MAC address.
fn parse_mac(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    let hex = |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    (parts.len() == 6 && parts.iter().all(hex)).then(|| parts.join(":").to_ascii_lowercase())
}

/// Reports whether the text is a UUID, with or without dashes.
pub(super) fn is_uuid(text: &str) -> bool {
    let digits = text.bytes().filter(|byte| *byte != b'-');
    digits.clone().count() == 32
        && digits.clone().all(|byte| byte.is_ascii_hexdigit())
        && (text.len() == 32 || text.len() == 36)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_for_what_they_are() {
        let ok = |kind: &FieldType, value: Value| convert(kind, &value, false).is_some();
        assert!(
            ok(&FieldType::Cidr, json!("10.0.0.0/8")) && ok(&FieldType::Cidr, json!("fd00::/64"))
        );
        assert!(
            !ok(&FieldType::Cidr, json!("10.0.0.0")) && !ok(&FieldType::Cidr, json!("10.0.0.0/33"))
        );
        assert!(
            ok(&FieldType::Mac, json!("fa:16:3e:00:00:01")) && !ok(&FieldType::Mac, json!("fa:16"))
        );
        let written = convert(&FieldType::Mac, &json!("FA-16-3E-00-00-01"), false);
        assert_eq!(written, Some(json!("fa:16:3e:00:00:01")));
        assert!(ok(&FieldType::Int, json!(5)) && !ok(&FieldType::Int, json!("5")));
        assert_eq!(convert(&FieldType::Int, &json!("5"), true), Some(json!(5)));
        assert_eq!(convert(&FieldType::Bool, &json!("True"), true), Some(json!(true)));
        assert!(is_uuid("0d1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d") && !is_uuid("x"));
    }
}
