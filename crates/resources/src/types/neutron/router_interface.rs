//! OS::Neutron::RouterInterface: the connection of a router to a subnet or port.

use crate::declare::*;

pub(super) fn router_interface() -> ResourceType {
    ResourceType::new("OS::Neutron::RouterInterface")
        .about("The connection of a router to a subnet or port.")
        .service(Service::Network)
        .extension("router")
        .props([
            prop("port", Str).is("neutron.port").by_name().replaces("port_id").since("2015.1"),
            prop("port_id", Str)
                .is("neutron.port")
                .since("2014.1")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `port`."),
            prop("router", Str).required().is("neutron.router").by_name().replaces("router_id"),
            prop("router_id", Str)
                .is("neutron.router")
                .since("2013.1")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `router`."),
            prop("subnet", Str).is("neutron.subnet").by_name().replaces("subnet_id"),
            prop("subnet_id", Str)
                .is("neutron.subnet")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `subnet`."),
        ])
}
