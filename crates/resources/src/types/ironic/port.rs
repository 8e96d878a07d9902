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
            prop("address", Str).required().updatable(),
            prop("extra", Map).updatable(),
            prop("is_smartnic", Bool).updatable(),
            prop("local_link_connection", Map).updatable(),
            prop("node", Str).required().updatable().is("ironic.node").by_name(),
            prop("physical_network", Str).updatable(),
            prop("portgroup", Str).updatable().is("ironic.portgroup").by_name(),
            prop("pxe_enabled", Bool).updatable(),
        ])
        .attrs([
            attr("address", Str),
            attr("extra", Map),
            attr("internal_info", Map),
            attr("is_smartnic", Bool),
            attr("local_link_connection", Map),
            attr("node_uuid", Str),
            attr("physical_network", Str),
            attr("portgroup_uuid", Str),
            attr("pxe_enabled", Bool),
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
                    // The service writes it so.
                    if let Some(Json::String(address)) = fields.get_mut("address") {
                        address.make_ascii_lowercase();
                    }
                }),
        )
}
