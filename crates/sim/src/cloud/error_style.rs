//! The error messages of the smaller services. The wording is much the same; the format of the body differs.

use serde_json::{Value, json};

use super::dialect::{Dialect, schema_type};
use super::microversioned;
use super::request::Refusal;
use super::schema::{Collection, Field, FieldType};
use super::table::Obj;
use crate::python;

/// The format of an error body.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ErrorForm {
    /// Aodh and Ironic: WSME's fault as a text or an object named `error_message`.
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
    /// Manila and Trove, like Nova.
    Named,
    /// Swift.
    Page,
}

/// The wording and the error format of one of the smaller services.
pub(super) struct ErrorStyle {
    pub(super) form: ErrorForm,
    /// The message for an object that does not exist: the words after its title and key.
    pub(super) missing: &'static str,
    /// The status for an invalid value.
    pub(super) bad: u16,
}

pub(super) fn refuse(status: u16, message: impl Into<String>) -> Refusal {
    Refusal::new(status, title(status), message)
}

/// Returns the reason phrase of a status.
pub(super) fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        413 => "Request Entity Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

impl Dialect for ErrorStyle {
    fn unknown_fields(&self, collection: &Collection, names: &[&str], sent: &Obj) -> Refusal {
        let first = names.first().copied().unwrap_or_default();
        match self.form {
            ErrorForm::Named => microversioned::unknown(collection.singular, names, sent),
            ErrorForm::Typed | ErrorForm::Described => refuse(
                400,
                format!("Additional properties are not allowed ('{first}' was unexpected)"),
            ),
            _ => refuse(
                400,
                format!("Unknown attribute for argument {}: {first}", collection.singular),
            ),
        }
    }

    fn missing_field(&self, collection: &Collection, name: &str, sent: &Obj) -> Refusal {
        match self.form {
            ErrorForm::Named => microversioned::missing(collection.singular, name, sent),
            ErrorForm::Typed | ErrorForm::Described => {
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

    fn read_only_field(&self, collection: &Collection, name: &str, _creating: bool) -> Refusal {
        match self.form {
            ErrorForm::Named => microversioned::unknown(collection.singular, &[name], &Obj::new()),
            _ => refuse(
                self.bad,
                format!("Invalid input for field/attribute {name}: it cannot be set."),
            ),
        }
    }

    fn invalid_value(&self, _collection: &Collection, field: &Field, value: &Value) -> Refusal {
        let rendered = python::repr(value);
        let reason = match &field.field_type {
            FieldType::OneOf(strings) => {
                format!("{rendered} is not one of {}", python::repr_list(strings))
            }
            FieldType::Ip => format!("{rendered} is not a valid IP address"),
            FieldType::Uuid => format!("{rendered} is not a valid UUID"),
            kind => format!("{rendered} is not of type '{}'", schema_type(kind)),
        };
        refuse(
            self.bad,
            format!(
                "Invalid input for field/attribute {}. Value: {rendered}. {reason}",
                field.name
            ),
        )
    }

    fn not_found(&self, collection: &Collection, key: &str) -> Refusal {
        if self.form == ErrorForm::Typed {
            let kind = format!("{} not found", collection.title.to_lowercase());
            return Refusal::new(404, &kind, format!("Could not find {}", collection.title));
        }
        refuse(404, format!("{} {key} {}", collection.title, self.missing))
    }

    fn forbidden(&self, _collection: &Collection, _action: &str) -> Refusal {
        refuse(403, "Policy does not allow this request to be performed.")
    }

    fn over_quota(&self, _collection: &Collection, name: &str) -> Refusal {
        match self.form {
            ErrorForm::Typed => refuse(413, format!("Quota exceeded for {name}.")),
            ErrorForm::Named => refuse(413, format!("Maximum number of {name} exceeded.")),
            _ => refuse(403, format!("Quota has been met for resources: {name}")),
        }
    }

    fn no_envelope(&self, collection: &Collection) -> Refusal {
        match self.form {
            ErrorForm::Typed => refuse(400, "Provided object does not match schema"),
            _ => refuse(400, format!("Missing argument: \"{}\"", collection.singular)),
        }
    }

    fn generic(&self, status: u16, message: &str) -> Refusal {
        refuse(status, message)
    }

    fn render(&self, refusal: &Refusal, request_id: &str) -> (&'static str, String) {
        let (status, kind, message) = (refusal.status, &refusal.error_type, &refusal.message);
        let side = if status >= 500 { "Server" } else { "Client" };
        let fault = json!({ "faultcode": side, "faultstring": message, "debuginfo": null });
        let body = match self.form {
            ErrorForm::ErrorMessage => json!({ "error_message": fault }),
            ErrorForm::ErrorName => {
                json!({ "error_code": status, "error_message": message, "error_name": kind })
            }
            ErrorForm::Typed => {
                let kind = kind.to_lowercase().replace(' ', "_");
                json!({ "code": status, "type": kind, "message": message, "request_id": request_id })
            }
            ErrorForm::Described => {
                json!({ "code": status, "title": kind, "description": message })
            }
            ErrorForm::Errors => json!({ "errors": [{
                "status": status, "code": "", "title": kind, "detail": message, "links": [], "request_id": request_id,
            }] }),
            ErrorForm::Faultstring => fault,
            ErrorForm::Named => return microversioned::render(refusal),
            ErrorForm::Page => {
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
