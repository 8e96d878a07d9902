//! OS::Neutron::PortPairGroup: equivalent port pairs over which a port chain spreads its traffic.

use super::common::rest_spec;
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn port_pair_group() -> ResourceType {
    ResourceType::new("OS::Neutron::PortPairGroup")
        .about("Equivalent port pairs over which a port chain spreads its traffic.")
        .service(Service::Network)
        .extension("sfc")
        .unsupported("8.0.0")
        .props([
            description_prop().updatable(),
            name_prop().updatable(),
            prop(
                "port_pairs",
                List,
                "Port pairs over which the group balances its traffic, by name or ID.",
            )
            .required()
            .updatable()
            .each(item(Str).is(PORT_PAIR).by_name()),
        ])
        .rest(rest_spec("/sfc/port_pair_groups", "port_pair_group"))
}
