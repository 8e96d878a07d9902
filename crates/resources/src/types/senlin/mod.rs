//! Placeholders for the retired clustering service: `OS::Senlin::*`.

use crate::declare::ResourceType;

mod cluster;
mod node;
mod policy;
mod profile;
mod receiver;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        cluster::cluster(),
        node::node(),
        policy::policy(),
        profile::profile(),
        receiver::receiver(),
    ]
}
