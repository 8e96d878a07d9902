//! OS::Neutron::PortChain: a path of port pair groups along which classified traffic is led.

use super::common::rest_spec;
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn port_chain() -> ResourceType {
    ResourceType::new("OS::Neutron::PortChain")
        .about("A path of port pair groups along which classified traffic is led.")
        .service(Service::Network)
        .extension("sfc")
        .unsupported("8.0.0")
        .props([
            prop(
                "chain_parameters",
                Map,
                "Settings of the chain, such as the `correlation` method between its hops.",
            )
            .default(map([("correlation", "mpls")])),
            description_prop().updatable(),
            prop(
                "flow_classifiers",
                List,
                "Classifiers that select the traffic to steer, by name or ID.",
            )
            .updatable()
            .default_empty()
            .each(item(Str).is(FLOW_CLASSIFIER).by_name()),
            name_prop().updatable(),
            prop(
                "port_pair_groups",
                List,
                "Groups that the traffic passes one after the other, by name or ID.",
            )
            .required()
            .updatable()
            .each(item(Str).is(PORT_PAIR_GROUP).by_name()),
        ])
        .rest(rest_spec("/sfc/port_chains", "port_chain"))
}
