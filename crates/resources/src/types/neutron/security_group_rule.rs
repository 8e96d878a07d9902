//! OS::Neutron::SecurityGroupRule: one rule of a security group.

use super::common::protocols;
use crate::declare::*;

pub(super) fn security_group_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::SecurityGroupRule")
        .about("One rule of a security group.")
        .service(Service::Network)
        .extension("security-group")
        .entity("security_group_rule")
        .observable()
        .since("7.0.0")
        .props([
            prop("description", Str),
            prop("direction", Str).default("ingress").one_of(["ingress", "egress"]),
            prop("ethertype", Str).default("IPv4").one_of(["IPv4", "IPv6"]),
            prop("port_range_max", Int).range(0, 65535),
            prop("port_range_min", Int).range(0, 65535),
            prop("protocol", Str).default("tcp").one_of(protocols()),
            prop("remote_group", Str).is("neutron.security_group").by_name(),
            prop("remote_ip_prefix", Str).is("net_cidr"),
            prop("security_group", Str).required().is("neutron.security_group").by_name(),
        ])
}
