//! Shared file systems: `OS::Manila::*`.

use crate::declare::ResourceType;

mod security_service;
mod share;
mod share_network;
mod share_type;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        security_service::security_service(),
        share::share(),
        share_network::share_network(),
        share_type::share_type(),
    ]
}
