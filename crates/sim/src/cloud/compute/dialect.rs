//! How Nova words its refusals.

use serde_json::Value;

use super::super::ask::Refusal;
use super::super::dialect::Dialect;
use super::super::fault_body;
use super::super::schema::{Collection, Field};
use super::super::table::Obj;

/// Nova's words.
pub(in super::super) struct Nova;

pub(super) use super::super::fault_body::fault;

/// The object is in a state in which this cannot be done.
pub(super) fn wrong_state(action: &str, server: &Obj) -> Refusal {
    let text = |name: &str| server.get(name).and_then(Value::as_str).unwrap_or_default();
    let (attribute, state) = match text("OS-EXT-STS:task_state") {
        "" => ("vm_state", text("OS-EXT-STS:vm_state")),
        task => ("task_state", task),
    };
    let id = text("id");
    fault(409, format!("Cannot '{action}' instance {id} while it is in {attribute} {state}"))
}

impl Dialect for Nova {
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
        let rule = format!("os_compute_api:{}:{action}", of.path);
        fault(403, format!("Policy doesn't allow {rule} to be performed."))
    }

    fn over_quota(&self, _of: &Collection, name: &str) -> Refusal {
        fault(403, format!("Quota exceeded, too many {}.", name.replace('_', " ")))
    }

    fn no_envelope(&self, of: &Collection) -> Refusal {
        fault_body::missing("", of.one, &Obj::new())
    }

    fn plain(&self, status: u16, message: &str) -> Refusal {
        fault(status, message)
    }

    fn render(&self, refusal: &Refusal, _request_id: &str) -> (&'static str, String) {
        fault_body::render(refusal)
    }
}
