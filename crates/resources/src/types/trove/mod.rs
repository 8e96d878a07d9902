//! Databases: `OS::Trove::*`.

use crate::declare::ResourceType;

mod cluster;
mod common;
mod instance;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![cluster::cluster(), instance::instance()]
}
