//! AWS::EC2::NetworkInterface: a port on a VPC's subnet that a server can be given.

use super::key_value;
use crate::declare::*;

pub(super) fn network_interface() -> ResourceType {
    ResourceType::new("AWS::EC2::NetworkInterface")
        .about("A port on a VPC's subnet that a server can be given.")
        .service(Service::Network)
        .props([
            prop("Description", Str),
            prop("GroupSet", List).updatable(),
            prop("PrivateIpAddress", Str),
            prop("SourceDestCheck", Bool).unimplemented(),
            prop("SubnetId", Str).required().is("neutron.subnet"),
            prop("Tags", List).each(key_value().unimplemented()),
        ])
        .attrs([attr("PrivateIpAddress", Str)])
}
