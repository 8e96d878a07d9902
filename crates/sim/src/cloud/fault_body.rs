//! The words that Nova, Cinder and their descendants share: JSON schema's complaints in an envelope named after the status.

use serde_json::{Value, json};

use super::ask::Refusal;
use super::dialect::{python, python_list, schema_type};
use super::schema::{Field, Kind};
use super::table::Obj;

/// The name of the envelope for a status.
fn envelope(status: u16) -> &'static str {
    match status {
        400 => "badRequest",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "itemNotFound",
        405 => "badMethod",
        406 => "notAcceptable",
        409 => "conflictingRequest",
        413 | 429 => "overLimit",
        415 => "badMediaType",
        501 => "notImplemented",
        503 => "serviceUnavailable",
        _ => "computeFault",
    }
}

/// The body of a refusal.
pub(super) fn render(refusal: &Refusal) -> (&'static str, String) {
    let fault = json!({ "code": refusal.status, "message": refusal.message });
    ("application/json", json!({ envelope(refusal.status): fault }).to_string())
}

pub(super) fn fault(status: u16, message: impl Into<String>) -> Refusal {
    Refusal::new(status, envelope(status), message)
}

/// What is wrong with a value, in JSON schema's words.
pub(super) fn wrong(path: &str, value: &Value, reason: &str) -> Refusal {
    let shown = python(value);
    fault(400, format!("Invalid input for field/attribute {path}. Value: {shown}. {reason}"))
}

pub(super) fn unknown(one: &str, names: &[&str], sent: &Obj) -> Refusal {
    let listed: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let verb = if names.len() == 1 { "was" } else { "were" };
    let reason =
        format!("Additional properties are not allowed ({} {verb} unexpected)", listed.join(", "));
    wrong(one, &Value::from(sent.clone()), &reason)
}

pub(super) fn missing(one: &str, name: &str, sent: &Obj) -> Refusal {
    wrong(one, &Value::from(sent.clone()), &format!("'{name}' is a required property"))
}

pub(super) fn invalid(field: &Field, value: &Value) -> Refusal {
    let shown = python(value);
    let reason = match &field.kind {
        Kind::OneOf(words) => format!("{shown} is not one of {}", python_list(words)),
        Kind::Uuid | Kind::Ref(_) if value.is_string() => format!("{shown} is not a 'uuid'"),
        kind => format!("{shown} is not of type '{}'", schema_type(kind)),
    };
    wrong(field.name, value, &reason)
}
