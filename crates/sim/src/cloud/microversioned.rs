//! The error bodies that Nova and Cinder share: messages of JSON schema in an envelope named after the status.

use serde_json::{Value, json};

use super::dialect::{Dialect, schema_type};
use super::request::Refusal;
use super::schema::{Collection, Field, FieldType};
use super::table::Obj;
use crate::python;

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

/// Renders an error body.
pub(super) fn render(refusal: &Refusal) -> (&'static str, String) {
    let mut fault = json!({ "code": refusal.status, "message": refusal.message });
    if refusal.status == 413 {
        fault["retryAfter"] = "0".into();
    }
    ("application/json", json!({ envelope(refusal.status): fault }).to_string())
}

pub(super) fn fault(status: u16, message: impl Into<String>) -> Refusal {
    Refusal::new(status, envelope(status), message)
}

/// Reports an invalid value in the words of JSON schema.
pub(super) fn wrong(path: &str, value: &Value, reason: &str) -> Refusal {
    let rendered = python::repr(value);
    fault(400, format!("Invalid input for field/attribute {path}. Value: {rendered}. {reason}"))
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

fn invalid(field: &Field, value: &Value) -> Refusal {
    let rendered = python::repr(value);
    let reason = match &field.field_type {
        FieldType::OneOf(strings) => {
            format!("{rendered} is not one of {}", python::repr_list(strings))
        }
        FieldType::Uuid | FieldType::Ref(_) if value.is_string() => {
            format!("{rendered} is not a 'uuid'")
        }
        kind => format!("{rendered} is not of type '{}'", schema_type(kind)),
    };
    wrong(field.name, value, &reason)
}

/// A service whose requests are validated by JSON schemas that depend on the microversion.
pub(super) struct Microversioned {
    /// The first word of the names of its policy rules.
    pub(super) policy_prefix: &'static str,
    /// Rejects a request that exceeds the quota with this name.
    pub(super) over_quota: fn(&str) -> Refusal,
    /// Rejects a body that lacks the element with this name.
    pub(super) no_envelope: fn(&str) -> Refusal,
    /// Whether texts that look like numbers and booleans are converted.
    pub(super) is_lenient: bool,
}

impl Dialect for Microversioned {
    fn unknown_fields(&self, collection: &Collection, names: &[&str], sent: &Obj) -> Refusal {
        unknown(collection.singular, names, sent)
    }

    fn missing_field(&self, collection: &Collection, name: &str, sent: &Obj) -> Refusal {
        missing(collection.singular, name, sent)
    }

    fn read_only_field(&self, collection: &Collection, name: &str, _creating: bool) -> Refusal {
        unknown(collection.singular, &[name], &Obj::new())
    }

    fn invalid_value(&self, _collection: &Collection, field: &Field, value: &Value) -> Refusal {
        invalid(field, value)
    }

    fn not_found(&self, collection: &Collection, key: &str) -> Refusal {
        fault(404, format!("{} {key} could not be found.", collection.title))
    }

    fn forbidden(&self, collection: &Collection, action: &str) -> Refusal {
        let rule = format!("{}:{}:{action}", self.policy_prefix, collection.path);
        fault(403, format!("Policy doesn't allow {rule} to be performed."))
    }

    fn over_quota(&self, _collection: &Collection, name: &str) -> Refusal {
        (self.over_quota)(name)
    }

    fn no_envelope(&self, collection: &Collection) -> Refusal {
        (self.no_envelope)(collection.singular)
    }

    fn generic(&self, status: u16, message: &str) -> Refusal {
        fault(status, message)
    }

    fn render(&self, refusal: &Refusal, _request_id: &str) -> (&'static str, String) {
        render(refusal)
    }

    fn is_lenient(&self) -> bool {
        self.is_lenient
    }
}
