//! Secrets, keys and certificates: `OS::Barbican::*`.

use crate::declare::ResourceType;

mod certificate_container;
mod common;
mod generic_container;
mod order;
mod rsa_container;
mod secret;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        certificate_container::certificate_container(),
        generic_container::generic_container(),
        order::order(),
        rsa_container::rsa_container(),
        secret::secret(),
    ]
}
