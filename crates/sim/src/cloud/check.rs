//! What clients send, held against the fields of a collection.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::ask::{Refusal, Turn};
use super::schema::{Field, Kind, Otherwise, Shape};
use super::table::Obj;

/// The object that a request to create comes to, before the service has completed it.
pub(super) fn creation(turn: &Turn<'_>, shape: &Shape, sent: &Obj) -> Result<Obj, Refusal> {
    let of = shape.of;
    known(shape, sent)?;
    let mut row = Obj::new();
    for field in &shape.fields {
        let value = sent.get(field.name);
        if let Some(value) = value {
            if !field.on_create {
                return Err(of.dialect.read_only(of, field.name, true));
            }
            let value = fit(turn, shape, field, value)?;
            permitted(turn, shape, field, &value, "create")?;
            row.insert(field.name.to_owned(), value);
            continue;
        }
        let value = match &field.otherwise {
            Otherwise::Required => return Err(of.dialect.missing(of, field.name, sent)),
            Otherwise::Absent => continue,
            Otherwise::Is(value) => value.clone(),
            Otherwise::Project => json!(turn.who.project),
            Otherwise::User => json!(turn.who.user),
            Otherwise::Now => json!(turn.world.stamp()),
        };
        row.insert(field.name.to_owned(), value);
    }
    Ok(row)
}

/// The changes that a request to update comes to.
pub(super) fn update(
    turn: &Turn<'_>,
    shape: &Shape,
    old: &Obj,
    sent: &Obj,
) -> Result<Obj, Refusal> {
    let of = shape.of;
    known(shape, sent)?;
    let mut changes = Obj::new();
    for field in &shape.fields {
        let Some(value) = sent.get(field.name) else { continue };
        if !field.on_update {
            return Err(of.dialect.read_only(of, field.name, false));
        }
        let value = fit(turn, shape, field, value)?;
        if old.get(field.name) != Some(&value) {
            permitted(turn, shape, field, &value, "update")?;
        }
        changes.insert(field.name.to_owned(), value);
    }
    Ok(changes)
}

fn known(shape: &Shape, sent: &Obj) -> Result<(), Refusal> {
    let strange: Vec<&str> =
        sent.keys().map(String::as_str).filter(|name| shape.field(name).is_none()).collect();
    if strange.is_empty() {
        return Ok(());
    }
    Err(shape.of.dialect.unknown(shape.of, &strange, sent))
}

fn permitted(
    turn: &Turn<'_>,
    shape: &Shape,
    field: &Field,
    value: &Value,
    action: &str,
) -> Result<(), Refusal> {
    let usual = matches!(&field.otherwise, Otherwise::Is(usual) if usual == value);
    if !field.by_admin || turn.who.is_admin || (usual && action == "create") {
        return Ok(());
    }
    Err(shape.of.dialect.forbidden(shape.of, &format!("{action}:{}", field.name)))
}

/// The value in the form of its field.
fn fit(turn: &Turn<'_>, shape: &Shape, field: &Field, value: &Value) -> Result<Value, Refusal> {
    let of = shape.of;
    if value.is_null() && field.takes_null() {
        return Ok(Value::Null);
    }
    let fitted = convert(&field.kind, value, of.dialect.is_lenient())
        .ok_or_else(|| of.dialect.invalid(of, field, value))?;
    if let (Kind::Ref(target), Some(key)) = (&field.kind, fitted.as_str())
        && let Some(target) = turn.world.collection(target)
    {
        let row = turn.world.get(target.name, key).filter(|row| turn.sees(target, row));
        if row.is_none() {
            return Err(of.dialect.dangling(of, field, target, key));
        }
    }
    Ok(fitted)
}

/// The value as this kind, if it is one.
pub(super) fn convert(kind: &Kind, value: &Value, is_lenient: bool) -> Option<Value> {
    let holds = match (kind, value) {
        (Kind::Any, _) => true,
        (Kind::Int, Value::Number(number)) => number.is_i64() || number.is_u64(),
        (Kind::Number, Value::Number(_))
        | (Kind::Bool, Value::Bool(_))
        | (Kind::List, Value::Array(_))
        | (Kind::Map, Value::Object(_))
        | (Kind::Text | Kind::Ref(_), Value::String(_)) => true,
        (Kind::Ip, Value::String(text)) => text.parse::<IpAddr>().is_ok(),
        (Kind::Cidr, Value::String(text)) => is_cidr(text),
        (Kind::Mac, Value::String(text)) => return mac(text).map(Value::String),
        (Kind::Uuid, Value::String(text)) => is_uuid(text),
        (Kind::OneOf(words), Value::String(text)) => words.contains(&text.as_str()),
        _ => false,
    };
    if holds {
        return Some(value.clone());
    }
    if !is_lenient {
        return None;
    }
    match (kind, value) {
        (Kind::Int, Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        (Kind::Bool, Value::String(text)) => truth(text).map(Value::Bool),
        (Kind::Bool, Value::Number(number)) if number.as_i64() == Some(0) => Some(json!(false)),
        (Kind::Bool, Value::Number(number)) if number.as_i64() == Some(1) => Some(json!(true)),
        (Kind::OneOf(words), Value::String(text)) => {
            let word = words.iter().find(|word| word.eq_ignore_ascii_case(text))?;
            Some(json!(word))
        }
        (Kind::OneOf(words), Value::Number(number)) => {
            words.contains(&number.to_string().as_str()).then(|| value.clone())
        }
        _ => None,
    }
}

/// A word for true or false.
pub(super) fn truth(text: &str) -> Option<bool> {
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

/// The address as services write it, however it was written.
fn mac(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    let hex = |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    (parts.len() == 6 && parts.iter().all(hex)).then(|| parts.join(":").to_ascii_lowercase())
}

/// Whether the text is a uuid, with or without dashes.
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
        let ok = |kind: &Kind, value: Value| convert(kind, &value, false).is_some();
        assert!(ok(&Kind::Cidr, json!("10.0.0.0/8")) && ok(&Kind::Cidr, json!("fd00::/64")));
        assert!(!ok(&Kind::Cidr, json!("10.0.0.0")) && !ok(&Kind::Cidr, json!("10.0.0.0/33")));
        assert!(ok(&Kind::Mac, json!("fa:16:3e:00:00:01")) && !ok(&Kind::Mac, json!("fa:16")));
        let written = convert(&Kind::Mac, &json!("FA-16-3E-00-00-01"), false);
        assert_eq!(written, Some(json!("fa:16:3e:00:00:01")));
        assert!(ok(&Kind::Int, json!(5)) && !ok(&Kind::Int, json!("5")));
        assert_eq!(convert(&Kind::Int, &json!("5"), true), Some(json!(5)));
        assert_eq!(convert(&Kind::Bool, &json!("True"), true), Some(json!(true)));
        assert!(is_uuid("0d1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d") && !is_uuid("x"));
    }
}
