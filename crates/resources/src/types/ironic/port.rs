//! OS::Ironic::Port: a network interface of a bare metal node, known by its MAC address.

use crate::declare::*;
use crate::rest::{RestSpec, UpdateMethod};
use serde_json::Value as Json;

pub(super) fn port() -> ResourceType {
    ResourceType::new("OS::Ironic::Port")
        .about("A network interface of a bare metal node, known by its MAC address.")
        .service(Service::BareMetal)
        .entity("port")
        .since("13.0.0")
        .props([
            prop("address", Str, "MAC address of the network interface.").required().updatable(),
            prop("extra", Map, "Arbitrary keys and values that are kept with the port.").updatable(),
            prop("is_smartnic", Bool, "Whether the interface is a SmartNIC, which carries its own network agent.").updatable(),
            prop("local_link_connection", Map, "Switch and switch port that the interface is plugged into, such as `switch_id` and `port_id`.").updatable(),
            prop("node", Str, "Name or ID of the bare metal node that has the interface.").required().updatable().is(NODE).by_name(),
            prop("physical_network", Str, "Name of the physical network that the interface is connected to.").updatable(),
            prop("portgroup", Str, "Name or ID of the port group that bonds the interface with others.").updatable().is(PORT_GROUP).by_name(),
            prop("pxe_enabled", Bool, "Whether the node can boot over the network through the interface.").updatable(),
        ])
        .attrs([
            attr("address", Str, "MAC address of the network interface."),
            attr("extra", Map, "Arbitrary keys and values kept with the port."),
            attr("internal_info", Map, "Data that the bare metal service keeps for itself, such as the network port in use."),
            attr("is_smartnic", Bool, "Whether the interface is a SmartNIC, which carries its own network agent."),
            attr("local_link_connection", Map, "Switch and switch port that the interface is plugged into."),
            attr("node_uuid", Str, "ID of the bare metal node that has the interface."),
            attr("physical_network", Str, "Name of the physical network that the interface is connected to."),
            attr("portgroup_uuid", Str, "ID of the port group that the interface belongs to."),
            attr("pxe_enabled", Bool, "Whether the node can boot over the network through the interface."),
        ])
        .rest(
            RestSpec::new(Service::BareMetal, "/ports", "")
                .list_envelope("ports")
                .id("uuid")
                .field("node", "node_uuid")
                .field("portgroup", "portgroup_uuid")
                .unique(["address"])
                .update_method(UpdateMethod::JsonPatch("application/json".into()))
                .deleted_at_once()
                .adjust_fields(|_, _, fields| {
                    // The service returns MAC addresses in lower case.
                    if let Some(Json::String(address)) = fields.get_mut("address") {
                        address.make_ascii_lowercase();
                    }
                }),
        )
}
