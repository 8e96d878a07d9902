//! How Cinder words its errors.

use super::super::microversioned::{Microversioned, fault};
use super::super::request::Refusal;

/// The dialect of Cinder.
pub(in super::super) static CINDER: Microversioned = Microversioned {
    policy_prefix: "volume_extension",
    over_quota: |name| {
        fault(413, format!("Maximum number of {name} allowed exceeded for quota '{name}'."))
    },
    no_envelope: |name| fault(400, format!("Missing required element '{name}' in request body.")),
    is_lenient: true,
};

/// Rejects a request that the state of the volume does not permit.
pub(super) fn invalid_volume(reason: &str) -> Refusal {
    fault(400, format!("Invalid volume: {reason}"))
}

pub(super) fn invalid_input(reason: &str) -> Refusal {
    fault(400, format!("Invalid input received: {reason}"))
}
