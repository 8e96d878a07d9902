//! Reservations: `OS::Blazar::*`.

use crate::declare::ResourceType;

mod host;
mod lease;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![host::host(), lease::lease()]
}
