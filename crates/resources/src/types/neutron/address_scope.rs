//! OS::Neutron::AddressScope: a scope inside which addresses of subnet pools do not overlap.

use super::common::bare;
use crate::declare::*;

pub(super) fn address_scope() -> ResourceType {
    ResourceType::new("OS::Neutron::AddressScope")
        .about("A scope inside which addresses of subnet pools do not overlap.")
        .service(Service::Network)
        .extension("address-scope")
        .entity("address_scope")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop("ip_version", Int).default(4).one_of([4, 6]),
            prop("name", Str).updatable(),
            prop("shared", Bool).updatable().default(false),
            prop("tenant_id", Str).is("keystone.project"),
        ])
        .rest(bare("/address-scopes", "address_scope"))
}
