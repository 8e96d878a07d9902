//! Object storage: `OS::Swift::*`.

use crate::declare::ResourceType;

pub(crate) mod common;
mod container;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![container::container()]
}
