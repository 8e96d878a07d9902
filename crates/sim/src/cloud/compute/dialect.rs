//! How Nova words its errors.

use serde_json::Value;

use super::super::microversioned::{Microversioned, missing};
use super::super::request::Refusal;
use super::super::table::Obj;

pub(super) use super::super::microversioned::fault;

/// The dialect of Nova.
pub(in super::super) static NOVA: Microversioned = Microversioned {
    policy_prefix: "os_compute_api",
    over_quota: |name| fault(403, format!("Quota exceeded, too many {}.", name.replace('_', " "))),
    no_envelope: |name| missing("", name, &Obj::new()),
    is_lenient: false,
};

/// Rejects an action that the state of the server does not permit.
pub(super) fn wrong_state(action: &str, server: &Obj) -> Refusal {
    let text = |name: &str| server.get(name).and_then(Value::as_str).unwrap_or_default();
    let (attribute, state) = match text("OS-EXT-STS:task_state") {
        "" => ("vm_state", text("OS-EXT-STS:vm_state")),
        task => ("task_state", task),
    };
    let id = text("id");
    fault(409, format!("Cannot '{action}' instance {id} while it is in {attribute} {state}"))
}
