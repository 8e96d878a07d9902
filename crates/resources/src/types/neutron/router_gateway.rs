//! OS::Neutron::RouterGateway: the connection of a router to an external network.

use crate::declare::*;

pub(super) fn router_gateway() -> ResourceType {
    ResourceType::new("OS::Neutron::RouterGateway")
        .about("The connection of a router to an external network.")
        .service(Service::Network)
        .deprecated("2014.1")
        .hidden("5.0.0")
        .note("Use the property `external_gateway_info` of OS::Neutron::Router.")
        .props([
            prop("network", Str).is("neutron.network").by_name().replaces("network_id"),
            prop("network_id", Str)
                .is("neutron.network")
                .deprecated("2014.2")
                .hidden("9.0.0")
                .note("Use `network`."),
            prop("router_id", Str).required().is("neutron.router"),
        ])
}
