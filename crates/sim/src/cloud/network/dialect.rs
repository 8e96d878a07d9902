//! How Neutron words its refusals.

use serde_json::{Value, json};

use super::super::ask::Refusal;
use super::super::dialect::{Dialect, python, python_list};
use super::super::schema::{Collection, Field, Kind};
use super::super::table::Obj;

/// Neutron's words.
pub(in super::super) struct Neutron;

/// A refusal with the name of Neutron's exception.
pub(super) fn refusal(status: u16, kind: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(status, kind, message)
}

/// What is wrong with what was sent, in Neutron's general words.
pub(super) fn invalid_input(message: &str) -> Refusal {
    let message = format!("Invalid input for operation: {message}.");
    refusal(400, "InvalidInput", message)
}

/// A value that does not fit its field.
pub(super) fn bad_value(field: &str, reason: &str) -> Refusal {
    refusal(400, "HTTPBadRequest", format!("Invalid input for {field}. Reason: {reason}."))
}

/// Titles whose refusals have words of their own: title, name of the exception, words around the id.
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
    fn unknown(&self, _of: &Collection, names: &[&str], _sent: &Obj) -> Refusal {
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        let message = format!("Unrecognized attribute(s) {}", names.join(", "));
        refusal(400, "HTTPBadRequest", message)
    }

    fn missing(&self, _of: &Collection, name: &str, _sent: &Obj) -> Refusal {
        let message = format!("Failed to parse request. Required attribute '{name}' not specified");
        refusal(400, "HTTPBadRequest", message)
    }

    fn read_only(&self, _of: &Collection, name: &str, creating: bool) -> Refusal {
        let message = match creating {
            true => format!("Attribute '{name}' not allowed in POST"),
            false => format!("Cannot update read-only attribute {name}"),
        };
        refusal(400, "HTTPBadRequest", message)
    }

    fn invalid(&self, _of: &Collection, field: &Field, value: &Value) -> Refusal {
        let shown = python(value);
        let reason = match &field.kind {
            Kind::Bool => return invalid_input(&format!("{shown} cannot be converted to boolean")),
            Kind::Int => format!("{shown} is not an integer"),
            Kind::Number => format!("{shown} is not a number"),
            Kind::List => format!("{shown} is not a list"),
            Kind::Map => format!("{shown} is not a dictionary"),
            Kind::Ip => format!("{shown} is not a valid IP address"),
            Kind::Cidr => format!("{shown} is not a valid IP subnet"),
            Kind::Mac => format!("{shown} is not a valid MAC address"),
            Kind::Uuid | Kind::Ref(_) => format!("{shown} is not a valid UUID"),
            Kind::OneOf(words) => format!("{shown} is not in {}", python_list(words)),
            Kind::Text | Kind::Any => format!("{shown} is not a valid string"),
        };
        bad_value(field.name, &reason)
    }

    fn absent(&self, of: &Collection, key: &str) -> Refusal {
        let row = MISSING.iter().find(|(title, ..)| *title == of.title);
        match row {
            Some((_, kind, before, after)) => refusal(404, kind, format!("{before}{key}{after}")),
            None => {
                let message = format!("{} {key} could not be found.", of.title);
                refusal(404, &format!("{}NotFound", of.title), message)
            }
        }
    }

    fn forbidden(&self, of: &Collection, action: &str) -> Refusal {
        let (verb, field) = action.split_once(':').unwrap_or((action, ""));
        let rule = match field {
            "" => format!("rule:{verb}_{}", of.one),
            field => format!("(rule:{verb}_{} and rule:{verb}_{}:{field})", of.one, of.one),
        };
        refusal(403, "PolicyNotAuthorized", format!("{rule} is disallowed by policy"))
    }

    fn over_quota(&self, _of: &Collection, name: &str) -> Refusal {
        refusal(409, "OverQuota", format!("Quota exceeded for resources: ['{name}']."))
    }

    fn no_envelope(&self, of: &Collection) -> Refusal {
        refusal(400, "HTTPBadRequest", format!("Unable to find '{}' in request body", of.one))
    }

    fn plain(&self, status: u16, message: &str) -> Refusal {
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
        let error = json!({ "type": refusal.kind, "message": refusal.message, "detail": "" });
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

    fn unknown_filter(&self, _of: &Collection, name: &str) -> Option<Refusal> {
        let message = format!("['{name}'] is invalid attribute for filtering");
        Some(refusal(400, "HTTPBadRequest", message))
    }
}
