//! Bare metal: `OS::Ironic::*`.

use crate::declare::ResourceType;

mod port;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![port::port()]
}
