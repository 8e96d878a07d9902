//! How the smaller services word their refusals. They say much the same; what differs is the form of the body.

use serde_json::{Value, json};

use super::ask::Refusal;
use super::dialect::{Dialect, python, python_list, schema_type};
use super::fault_body;
use super::schema::{Collection, Field, Kind};
use super::table::Obj;

/// The form of the body of a refusal.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Aodh and Ironic: WSME's fault in a text or an object called `error_message`.
    ErrorMessage,
    /// Blazar.
    ErrorName,
    /// Designate.
    Typed,
    /// Barbican and Zaqar.
    Described,
    /// Magnum and Zun.
    Errors,
    /// Octavia and Mistral: WSME's fault as it is.
    Faultstring,
    /// Manila and Trove, after Nova.
    Named,
    /// Swift.
    Page,
}

/// The words of one of the smaller services.
pub(super) struct Words {
    pub(super) form: Form,
    /// What is said when something is not there: the words after the title and the key.
    pub(super) missing: &'static str,
    /// The status of a value that makes no sense.
    pub(super) bad: u16,
}

pub(super) fn refuse(status: u16, message: impl Into<String>) -> Refusal {
    Refusal::new(status, title(status), message)
}

fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        413 => "Request Entity Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

impl Dialect for Words {
    fn unknown(&self, of: &Collection, names: &[&str], sent: &Obj) -> Refusal {
        let first = names.first().copied().unwrap_or_default();
        match self.form {
            Form::Named => fault_body::unknown(of.one, names, sent),
            Form::Typed | Form::Described => refuse(
                400,
                format!("Additional properties are not allowed ('{first}' was unexpected)"),
            ),
            _ => refuse(400, format!("Unknown attribute for argument {}: {first}", of.one)),
        }
    }

    fn missing(&self, of: &Collection, name: &str, sent: &Obj) -> Refusal {
        match self.form {
            Form::Named => fault_body::missing(of.one, name, sent),
            Form::Typed | Form::Described => {
                refuse(400, format!("'{name}' is a required property"))
            }
            _ => refuse(
                400,
                format!(
                    "Invalid input for field/attribute {name}. Value: 'None'. Mandatory field missing."
                ),
            ),
        }
    }

    fn read_only(&self, of: &Collection, name: &str, _creating: bool) -> Refusal {
        match self.form {
            Form::Named => fault_body::unknown(of.one, &[name], &Obj::new()),
            _ => refuse(
                self.bad,
                format!("Invalid input for field/attribute {name}: it cannot be set."),
            ),
        }
    }

    fn invalid(&self, _of: &Collection, field: &Field, value: &Value) -> Refusal {
        let shown = python(value);
        let reason = match &field.kind {
            Kind::OneOf(words) => format!("{shown} is not one of {}", python_list(words)),
            Kind::Ip => format!("{shown} is not a valid IP address"),
            Kind::Uuid => format!("{shown} is not a valid UUID"),
            kind => format!("{shown} is not of type '{}'", schema_type(kind)),
        };
        refuse(
            self.bad,
            format!("Invalid input for field/attribute {}. Value: {shown}. {reason}", field.name),
        )
    }

    fn absent(&self, of: &Collection, key: &str) -> Refusal {
        if self.form == Form::Typed {
            let kind = format!("{} not found", of.title.to_lowercase());
            return Refusal::new(404, &kind, format!("Could not find {}", of.title));
        }
        refuse(404, format!("{} {key} {}", of.title, self.missing))
    }

    fn forbidden(&self, _of: &Collection, _action: &str) -> Refusal {
        refuse(403, "Policy does not allow this request to be performed.")
    }

    fn over_quota(&self, _of: &Collection, name: &str) -> Refusal {
        match self.form {
            Form::Typed => refuse(413, format!("Quota exceeded for {name}.")),
            Form::Named => refuse(413, format!("Maximum number of {name} exceeded.")),
            _ => refuse(403, format!("Quota has been met for resources: {name}")),
        }
    }

    fn no_envelope(&self, of: &Collection) -> Refusal {
        match self.form {
            Form::Typed => refuse(400, "Provided object does not match schema"),
            _ => refuse(400, format!("Missing argument: \"{}\"", of.one)),
        }
    }

    fn plain(&self, status: u16, message: &str) -> Refusal {
        refuse(status, message)
    }

    fn render(&self, refusal: &Refusal, request_id: &str) -> (&'static str, String) {
        let (status, kind, message) = (refusal.status, &refusal.kind, &refusal.message);
        let side = if status >= 500 { "Server" } else { "Client" };
        let fault = json!({ "faultcode": side, "faultstring": message, "debuginfo": null });
        let body = match self.form {
            Form::ErrorMessage => json!({ "error_message": fault }),
            Form::ErrorName => {
                json!({ "error_code": status, "error_message": message, "error_name": kind })
            }
            Form::Typed => {
                let kind = kind.to_lowercase().replace(' ', "_");
                json!({ "code": status, "type": kind, "message": message, "request_id": request_id })
            }
            Form::Described => json!({ "code": status, "title": kind, "description": message }),
            Form::Errors => json!({ "errors": [{
                "status": status, "code": "", "title": kind, "detail": message, "links": [], "request_id": request_id,
            }] }),
            Form::Faultstring => fault,
            Form::Named => return fault_body::render(refusal),
            Form::Page => {
                let page = format!("<html><h1>{kind}</h1><p>{message}</p></html>");
                return ("text/html; charset=UTF-8", page);
            }
        };
        ("application/json", body.to_string())
    }

    fn is_lenient(&self) -> bool {
        true
    }
}
