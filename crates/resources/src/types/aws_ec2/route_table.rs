//! AWS::EC2::RouteTable: a router of its own inside a VPC.

use super::key_value;
use crate::declare::*;

pub(super) fn route_table() -> ResourceType {
    ResourceType::new("AWS::EC2::RouteTable")
        .about("A router of its own inside a VPC.")
        .service(Service::Network)
        .since("2014.1")
        .props([
            prop("Tags", List).each(key_value().unimplemented()),
            prop("VpcId", Str).required(),
        ])
}
