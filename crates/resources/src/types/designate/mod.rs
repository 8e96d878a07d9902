//! DNS zones and records: `OS::Designate::*`.

use crate::declare::ResourceType;

mod common;
mod domain;
mod record;
mod record_set;
mod zone;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![domain::domain(), record::record(), record_set::record_set(), zone::zone()]
}
