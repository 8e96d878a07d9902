//! OS::Neutron::NetworkGateway: a gateway device that connects networks to the outside on layer 2.

use crate::declare::*;

pub(super) fn network_gateway() -> ResourceType {
    ResourceType::new("OS::Neutron::NetworkGateway")
        .about("A gateway device that connects networks to the outside on layer 2.")
        .service(Service::Network)
        .entity("network_gateway")
        .observable()
        .since("2014.1")
        .props([
            // The default is a map though it is a list: that is what the reference tells clients.
            prop("connections", List).updatable().default(map::<Value>([])).each(record([
                prop("network", Str)
                    .required()
                    .is("neutron.network")
                    .by_name()
                    .replaces("network_id")
                    .since("2014.2"),
                prop("network_id", Str)
                    .is("neutron.network")
                    .deprecated("2014.2")
                    .hidden("5.0.0")
                    .note("Use `network`."),
                prop("segmentation_id", Int).range(0, 4094),
                prop("segmentation_type", Str).default("flat").one_of(["flat", "vlan"]),
            ])),
            prop("devices", List)
                .required()
                .updatable()
                .min_length(1)
                .each(record([prop("id", Str).required(), prop("interface_name", Str).required()])),
            prop("name", Str).updatable(),
        ])
        .attrs([attr("default", Str)])
}
