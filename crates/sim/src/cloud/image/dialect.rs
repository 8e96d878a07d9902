//! The error messages of Glance, which are HTML pages.

use serde_json::Value;

use super::super::dialect::{Dialect, schema_type};
use super::super::error_style::title;
use super::super::request::Refusal;
use super::super::schema::{Collection, Field};
use super::super::table::Obj;
use crate::python;

/// The dialect of Glance.
pub(in super::super) struct Glance;

pub(super) fn refuse(status: u16, message: impl Into<String>) -> Refusal {
    Refusal::new(status, "", message)
}

impl Dialect for Glance {
    fn unknown_fields(&self, _collection: &Collection, names: &[&str], _sent: &Obj) -> Refusal {
        refuse(403, format!("Attribute '{}' is reserved.", names.first().unwrap_or(&"")))
    }

    fn missing_field(&self, _collection: &Collection, name: &str, _sent: &Obj) -> Refusal {
        refuse(400, format!("'{name}' is a required property"))
    }

    fn read_only_field(&self, _collection: &Collection, name: &str, _creating: bool) -> Refusal {
        refuse(403, format!("Attribute '{name}' is read-only."))
    }

    fn invalid_value(&self, _collection: &Collection, field: &Field, value: &Value) -> Refusal {
        let rendered = python::repr(value);
        let kind = schema_type(&field.field_type);
        refuse(
            400,
            format!(
                "Provided object does not match schema 'image': {rendered} is not of type '{kind}'"
            ),
        )
    }

    fn not_found(&self, _collection: &Collection, key: &str) -> Refusal {
        refuse(404, format!("No image found with ID {key}"))
    }

    fn forbidden(&self, _collection: &Collection, action: &str) -> Refusal {
        refuse(403, format!("You are not authorized to complete {action} action."))
    }

    fn over_quota(&self, _collection: &Collection, name: &str) -> Refusal {
        refuse(413, format!("Project is over a limit for {name}"))
    }

    fn no_envelope(&self, _collection: &Collection) -> Refusal {
        refuse(400, "Malformed JSON in request body.")
    }

    fn generic(&self, status: u16, message: &str) -> Refusal {
        refuse(status, message)
    }

    fn render(&self, refusal: &Refusal, _request_id: &str) -> (&'static str, String) {
        let head = format!("{} {}", refusal.status, title(refusal.status));
        let text = refusal.message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let page = format!(
            "<html>\n <head>\n  <title>{head}</title>\n </head>\n <body>\n  <h1>{head}</h1>\n  {text}<br /><br />\n\n\n \
             </body>\n</html>"
        );
        ("text/html; charset=UTF-8", page)
    }
}
