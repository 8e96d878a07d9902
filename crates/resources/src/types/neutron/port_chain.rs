//! OS::Neutron::PortChain: a path of port pair groups along which classified traffic is led.

use super::common::rest_spec;
use crate::declare::*;

pub(super) fn port_chain() -> ResourceType {
    ResourceType::new("OS::Neutron::PortChain")
        .about("A path of port pair groups along which classified traffic is led.")
        .service(Service::Network)
        .extension("sfc")
        .unsupported("8.0.0")
        .props([
            prop("chain_parameters", Map).default(map([("correlation", "mpls")])),
            prop("description", Str).updatable(),
            prop("flow_classifiers", List)
                .updatable()
                .default_empty()
                .each(item(Str).is("neutron.flow_classifier").by_name()),
            prop("name", Str).updatable(),
            prop("port_pair_groups", List)
                .required()
                .updatable()
                .each(item(Str).is("neutron.port_pair_group").by_name()),
        ])
        .rest(rest_spec("/sfc/port_chains", "port_chain"))
}
