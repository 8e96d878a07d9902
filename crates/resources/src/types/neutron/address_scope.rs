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
            prop("ip_version", Int, "IP version of the addresses in the scope, 4 or 6.").default(4).one_of([4, 6]),
            prop("name", Str, "Human-readable name; made from the stack and resource names if omitted.").updatable(),
            prop("shared", Bool, "Whether all projects may use the object, not only its owner.").updatable().default(false),
            prop("tenant_id", Str, "Project that owns the object; only administrators may choose another than the stack's.").is(PROJECT),
        ])
        .rest(bare("/address-scopes", "address_scope"))
}
