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
            prop("description", Str).updatable(),
            prop("name", Str).updatable(),
            prop("port_pairs", List)
                .required()
                .updatable()
                .each(item(Str).is("neutron.port_pair").by_name()),
        ])
        .rest(rest_spec("/sfc/port_pair_groups", "port_pair_group"))
}
