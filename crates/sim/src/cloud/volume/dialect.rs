//! How Cinder words its refusals.

use serde_json::Value;

use super::super::ask::Refusal;
use super::super::dialect::Dialect;
use super::super::fault_body::{self, fault};
use super::super::schema::{Collection, Field};
use super::super::table::Obj;

/// Cinder's words.
pub(in super::super) struct Cinder;

/// What is wrong with a volume.
pub(super) fn invalid_volume(reason: &str) -> Refusal {
    fault(400, format!("Invalid volume: {reason}"))
}

pub(super) fn invalid_input(reason: &str) -> Refusal {
    fault(400, format!("Invalid input received: {reason}"))
}

impl Dialect for Cinder {
    fn unknown(&self, of: &Collection, names: &[&str], sent: &Obj) -> Refusal {
        fault_body::unknown(of.one, names, sent)
    }

    fn missing(&self, of: &Collection, name: &str, sent: &Obj) -> Refusal {
        fault_body::missing(of.one, name, sent)
    }

    fn read_only(&self, of: &Collection, name: &str, _creating: bool) -> Refusal {
        fault_body::unknown(of.one, &[name], &Obj::new())
    }

    fn invalid(&self, _of: &Collection, field: &Field, value: &Value) -> Refusal {
        fault_body::invalid(field, value)
    }

    fn absent(&self, of: &Collection, key: &str) -> Refusal {
        fault(404, format!("{} {key} could not be found.", of.title))
    }

    fn forbidden(&self, of: &Collection, action: &str) -> Refusal {
        let rule = format!("volume_extension:{}:{action}", of.path);
        fault(403, format!("Policy doesn't allow {rule} to be performed."))
    }

    fn over_quota(&self, _of: &Collection, name: &str) -> Refusal {
        fault(413, format!("Maximum number of {name} allowed exceeded for quota '{name}'."))
    }

    fn no_envelope(&self, of: &Collection) -> Refusal {
        fault(400, format!("Missing required element '{}' in request body.", of.one))
    }

    fn plain(&self, status: u16, message: &str) -> Refusal {
        fault(status, message)
    }

    fn render(&self, refusal: &Refusal, _request_id: &str) -> (&'static str, String) {
        fault_body::render(refusal)
    }

    fn is_lenient(&self) -> bool {
        true
    }
}
