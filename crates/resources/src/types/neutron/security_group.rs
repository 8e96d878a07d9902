//! OS::Neutron::SecurityGroup: a set of rules that say which traffic may reach and leave a port.

use super::common::protocols;
use crate::declare::*;

pub(super) fn security_group() -> ResourceType {
    ResourceType::new("OS::Neutron::SecurityGroup")
        .about("A set of rules that say which traffic may reach and leave a port.")
        .service(Service::Network)
        .extension("security-group")
        .entity("security_group")
        .observable()
        .since("2014.1")
        .props([
            prop("description", Str).updatable(),
            prop("name", Str).updatable(),
            rules(),
            prop("stateful", Bool).updatable().since("27.0.0"),
        ])
}

fn rules() -> Prop {
    prop("rules", List).updatable().default_empty().each(record([
        prop("description", Str).since("27.0.0"),
        prop("direction", Str).default("ingress").one_of(["ingress", "egress"]),
        prop("ethertype", Str).default("IPv4").one_of(["IPv4", "IPv6"]),
        prop("port_range_max", Int).range(0, 65535),
        prop("port_range_min", Int).range(0, 65535),
        prop("protocol", Str).one_of(protocols()),
        prop("remote_group_id", Str).is("neutron.security_group"),
        prop("remote_ip_prefix", Str).is("net_cidr"),
        prop("remote_mode", Str)
            .default("remote_ip_prefix")
            .one_of(["remote_ip_prefix", "remote_group_id"]),
    ]))
}
