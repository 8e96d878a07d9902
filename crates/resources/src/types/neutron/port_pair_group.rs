//! OS::Neutron::PortPairGroup: equivalent port pairs over which a port chain spreads its traffic.

use super::common::rest_spec;
use crate::declare::*;

pub(super) fn port_pair_group() -> ResourceType {
    ResourceType::new("OS::Neutron::PortPairGroup")
        .about("Equivalent port pairs over which a port chain spreads its traffic.")
        .service(Service::Network)
        .extension("sfc")
        .unsupported("8.0.0")
        .props([
            prop("description", Str, "Free-form text for people; the service gives it no meaning.")
                .updatable(),
            prop(
                "name",
                Str,
                "Human-readable name; made from the stack and resource names if omitted.",
            )
            .updatable(),
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
