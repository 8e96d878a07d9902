//! OS::Neutron::AddressScope: a scope inside which addresses of subnet pools do not overlap.

use super::common::bare;
use super::fragments::shared_prop;
use crate::declare::*;
use crate::types::fragments::{name_prop, tenant_id_prop};

pub(super) fn address_scope() -> ResourceType {
    ResourceType::new("OS::Neutron::AddressScope")
        .about("A scope inside which addresses of subnet pools do not overlap.")
        .service(Service::Network)
        .extension("address-scope")
        .entity("address_scope")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop("ip_version", Int, "IP version of the addresses in the scope, 4 or 6.")
                .default(4)
                .one_of([4, 6]),
            name_prop().updatable(),
            shared_prop().updatable().default(false),
            tenant_id_prop().is(PROJECT),
        ])
        .rest(bare("/address-scopes", "address_scope"))
}
