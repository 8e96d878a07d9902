//! OS::Neutron::L2GatewayConnection: the connection of a network to a layer-2 gateway.

use super::common::bare;
use crate::declare::*;
use crate::rest::UpdateMethod;

pub(super) fn l2_gateway_connection() -> ResourceType {
    ResourceType::new("OS::Neutron::L2GatewayConnection")
        .about("The connection of a network to a layer-2 gateway.")
        .service(Service::Network)
        .extension("l2-gateway-connection")
        .entity("l2_gateway_connection")
        .detects_drift()
        .since("12.0.0")
        .props([
            prop("l2_gateway_id", Str, "ID of the gateway that the network is joined to.")
                .required(),
            prop("network_id", Str, "Network that is extended through the gateway, by name or ID.")
                .required()
                .is(NETWORK),
            prop(
                "segmentation_id",
                Str,
                "VLAN ID for the gateway's interfaces, unless these have their own.",
            ),
        ])
        .rest(
            bare("/l2-gateway-connections", "l2_gateway_connection")
                .update_method(UpdateMethod::Never)
                .finds("network_id", NETWORK)
                .unique(["l2_gateway_id", "network_id"]),
        )
}
