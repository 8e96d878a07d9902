//! OS::Neutron::SubnetPool: a pool of addresses from which subnets get their blocks.

use super::common::tags;
use crate::declare::*;

pub(super) fn subnet_pool() -> ResourceType {
    ResourceType::new("OS::Neutron::SubnetPool")
        .about("A pool of addresses from which subnets get their blocks.")
        .service(Service::Network)
        .extension("subnet_allocation")
        .entity("subnetpool")
        .observable()
        .since("6.0.0")
        .with(tags)
        .props([
            prop("address_scope", Str).updatable().is("neutron.address_scope"),
            prop("default_prefixlen", Int).updatable().min(0),
            prop("default_quota", Int).updatable().min(0),
            prop("is_default", Bool).updatable().default(false),
            prop("max_prefixlen", Int).updatable().min(0),
            prop("min_prefixlen", Int).updatable().min(0),
            prop("name", Str).updatable(),
            prop("prefixes", List)
                .required()
                .updatable()
                .min_length(1)
                .each(item(Str).is("net_cidr")),
            prop("shared", Bool).default(false),
            prop("tenant_id", Str),
        ])
}
