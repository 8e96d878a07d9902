//! AWS::EC2::Subnet: a block of addresses in a VPC, connected to the VPC's router.

use super::key_value;
use crate::declare::*;

pub(super) fn subnet() -> ResourceType {
    ResourceType::new("AWS::EC2::Subnet")
        .about("A block of addresses in a VPC, connected to the VPC's router.")
        .service(Service::Network)
        .props([
            prop("AvailabilityZone", Str),
            prop("CidrBlock", Str).required(),
            prop("Tags", List).each(key_value().unimplemented()),
            prop("VpcId", Str).required(),
        ])
        .attrs([attr("AvailabilityZone", Str)])
}
