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
            prop("l2_gateway_id", Str).required(),
            prop("network_id", Str).required().is("neutron.network"),
            prop("segmentation_id", Str),
        ])
        .rest(
            bare("/l2-gateway-connections", "l2_gateway_connection")
                .update_method(UpdateMethod::Never)
                .finds("network_id", "neutron.network")
                .unique(["l2_gateway_id", "network_id"]),
        )
}
