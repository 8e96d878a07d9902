//! Servers and what they need: `OS::Nova::*`.

use crate::declare::ResourceType;

mod common;
mod flavor;
mod floating_ip;
mod floating_ip_association;
mod host_aggregate;
mod key_pair;
mod quota;
pub(crate) mod server;
mod server_group;
mod ssh;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        flavor::flavor(),
        floating_ip::floating_ip(),
        floating_ip_association::floating_ip_association(),
        host_aggregate::host_aggregate(),
        key_pair::key_pair(),
        quota::quota(),
        server::server(),
        server_group::server_group(),
    ]
}
