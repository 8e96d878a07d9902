//! Placeholders for the retired monitoring service: `OS::Monasca::*`.

use crate::declare::ResourceType;

mod alarm_definition;
mod notification;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![alarm_definition::alarm_definition(), notification::notification()]
}
