//! AWS::EC2::VPCGatewayAttachment: the connection of a VPC's routers to the external network.

use crate::declare::*;

pub(super) fn vpc_gateway_attachment() -> ResourceType {
    ResourceType::new("AWS::EC2::VPCGatewayAttachment")
        .about("The connection of a VPC's routers to the external network.")
        .service(Service::Network)
        .props([
            prop("InternetGatewayId", Str),
            prop("VpcId", Str).required(),
            prop("VpnGatewayId", Str).unimplemented(),
        ])
}
