//! OS::Neutron::Trunk: a port that carries the traffic of several networks to one server.

use crate::declare::*;

pub(super) fn trunk() -> ResourceType {
    ResourceType::new("OS::Neutron::Trunk")
        .about("A port that carries the traffic of several networks to one server.")
        .service(Service::Network)
        .extension("trunk")
        .entity("trunk")
        .observable()
        .since("9.0.0")
        .props([
            prop("admin_state_up", Bool).updatable(),
            prop("description", Str).updatable(),
            prop("name", Str).updatable(),
            prop("port", Str).required().immutable().is("neutron.port").by_name(),
            prop("sub_ports", List).updatable().each(record([
                prop("port", Str).required().is("neutron.port").by_name(),
                prop("segmentation_id", Int).required().range(1, 4094),
                prop("segmentation_type", Str).required().one_of(["vlan"]),
            ])),
        ])
        .attrs([attr("port_id", Str)])
}
