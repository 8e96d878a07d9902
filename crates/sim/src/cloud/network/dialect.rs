//! The error messages of Neutron.

use serde_json::{Value, json};

use super::super::dialect::Dialect;
use super::super::request::Refusal;
use super::super::schema::{Collection, Field, FieldType};
use super::super::table::Obj;
use crate::python;

/// The dialect of Neutron.
pub(in super::super) struct Neutron;

/// Returns an error with the name of Neutron's exception.
pub(super) fn refusal(status: u16, kind: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(status, kind, message)
}

/// Reports an invalid request in Neutron's general wording.
pub(super) fn invalid_input(message: &str) -> Refusal {
    let message = format!("Invalid input for operation: {message}.");
    refusal(400, "InvalidInput", message)
}

/// Reports an invalid value of a field.
pub(super) fn bad_value(field: &str, reason: &str) -> Refusal {
    refusal(400, "HTTPBadRequest", format!("Invalid input for {field}. Reason: {reason}."))
}

/// The titles with their own message for a missing object: title, name of the exception, words before and after the
/// id.
#[rustfmt::skip]
const MISSING: &[(&str, &str, &str, &str)] = &[
    ("AddressScope",      "AddressScopeNotFound",      "Address scope ",           " could not be found."),
    ("FloatingIP",        "FloatingIPNotFound",        "Floating IP ",             " could not be found"),
    ("MeteringLabel",     "MeteringLabelNotFound",     "Metering label ",          " does not exist."),
    ("MeteringLabelRule", "MeteringLabelRuleNotFound", "Metering label rule ",     " does not exist."),
    ("PortForwarding",    "PortForwardingNotFound",    "Port Forwarding ",         " could not be found."),
    ("QosPolicy",         "QosPolicyNotFound",         "QoS policy ",              " could not be found."),
    ("RbacPolicy",        "RbacPolicyNotFound",        "RBAC policy of type None with ID ", " not found"),
    ("Router",            "RouterNotFound",            "Router ",                  " could not be found"),
    ("SecurityGroup",     "SecurityGroupNotFound",     "Security group ",          " does not exist"),
    ("SecurityGroupRule", "SecurityGroupRuleNotFound", "Security group rule ",     " does not exist"),
    ("SubnetPool",        "SubnetPoolNotFound",        "Subnet pool ",             " could not be found."),
];

impl Dialect for Neutron {
    fn unknown_fields(&self, _collection: &Collection, names: &[&str], _sent: &Obj) -> Refusal {
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        let message = format!("Unrecognized attribute(s) {}", names.join(", "));
        refusal(400, "HTTPBadRequest", message)
    }

    fn missing_field(&self, _collection: &Collection, name: &str, _sent: &Obj) -> Refusal {
        let message = format!("Failed to parse request. Required attribute '{name}' not specified");
        refusal(400, "HTTPBadRequest", message)
    }

    fn read_only_field(&self, _collection: &Collection, name: &str, creating: bool) -> Refusal {
        let message = if creating {
            format!("Attribute '{name}' not allowed in POST")
        } else {
            format!("Cannot update read-only attribute {name}")
        };
        refusal(400, "HTTPBadRequest", message)
    }

    fn invalid_value(&self, _collection: &Collection, field: &Field, value: &Value) -> Refusal {
        let rendered = python::repr(value);
        let reason = match &field.field_type {
            FieldType::Bool => {
                return invalid_input(&format!("{rendered} cannot be converted to boolean"));
            }
            FieldType::Int => format!("{rendered} is not an integer"),
            FieldType::Number => format!("{rendered} is not a number"),
            FieldType::List => format!("{rendered} is not a list"),
            FieldType::Map => format!("{rendered} is not a dictionary"),
            FieldType::Ip => format!("{rendered} is not a valid IP address"),
            FieldType::Cidr => format!("{rendered} is not a valid IP subnet"),
            FieldType::Mac => format!("{rendered} is not a valid MAC address"),
            FieldType::Uuid | FieldType::Ref(_) => format!("{rendered} is not a valid UUID"),
            FieldType::OneOf(strings) => {
                format!("{rendered} is not in {}", python::repr_list(strings))
            }
            FieldType::Text | FieldType::Any => format!("{rendered} is not a valid string"),
        };
        bad_value(field.name, &reason)
    }

    fn not_found(&self, collection: &Collection, key: &str) -> Refusal {
        let row = MISSING.iter().find(|(title, ..)| *title == collection.title);
        match row {
            Some((_, kind, before, after)) => refusal(404, kind, format!("{before}{key}{after}")),
            None => {
                let message = format!("{} {key} could not be found.", collection.title);
                refusal(404, &format!("{}NotFound", collection.title), message)
            }
        }
    }

    fn forbidden(&self, collection: &Collection, action: &str) -> Refusal {
        let (verb, field) = action.split_once(':').unwrap_or((action, ""));
        let rule = match field {
            "" => format!("rule:{verb}_{}", collection.singular),
            field => format!(
                "(rule:{verb}_{} and rule:{verb}_{}:{field})",
                collection.singular, collection.singular
            ),
        };
        refusal(403, "PolicyNotAuthorized", format!("{rule} is disallowed by policy"))
    }

    fn over_quota(&self, _collection: &Collection, name: &str) -> Refusal {
        refusal(409, "OverQuota", format!("Quota exceeded for resources: ['{name}']."))
    }

    fn no_envelope(&self, collection: &Collection) -> Refusal {
        refusal(
            400,
            "HTTPBadRequest",
            format!("Unable to find '{}' in request body", collection.singular),
        )
    }

    fn generic(&self, status: u16, message: &str) -> Refusal {
        let kind = match status {
            400 => "HTTPBadRequest",
            403 => "HTTPForbidden",
            404 => "HTTPNotFound",
            405 => "HTTPMethodNotAllowed",
            409 => "HTTPConflict",
            429 => "HTTPTooManyRequests",
            503 => "HTTPServiceUnavailable",
            _ => "HTTPInternalServerError",
        };
        refusal(status, kind, message)
    }

    fn render(&self, refusal: &Refusal, _request_id: &str) -> (&'static str, String) {
        let error = json!({ "type": refusal.error_type, "message": refusal.message, "detail": "" });
        ("application/json", json!({ "NeutronError": error }).to_string())
    }

    fn is_lenient(&self) -> bool {
        true
    }

    fn takes_many(&self) -> bool {
        true
    }

    fn finish(&self, row: &mut Obj) {
        if let Some(project) = row.get("project_id").cloned() {
            row.insert("tenant_id".to_owned(), project);
        }
    }

    fn unknown_filter(&self, _collection: &Collection, name: &str) -> Option<Refusal> {
        let message = format!("['{name}'] is invalid attribute for filtering");
        Some(refusal(400, "HTTPBadRequest", message))
    }
}
