//! Placeholders for the retired root cause analysis service: `OS::Vitrage::*`.

use crate::declare::ResourceType;

mod template;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![template::template()]
}
