//! AWS::EC2::VPC: a private network together with its router.

use super::key_value;
use crate::declare::*;

pub(super) fn vpc() -> ResourceType {
    ResourceType::new("AWS::EC2::VPC")
        .about("A private network together with its router.")
        .service(Service::Network)
        .props([
            prop("CidrBlock", Str),
            prop("InstanceTenancy", Str)
                .unimplemented()
                .default("default")
                .one_of(["default", "dedicated"]),
            prop("Tags", List).each(key_value().unimplemented()),
        ])
}
