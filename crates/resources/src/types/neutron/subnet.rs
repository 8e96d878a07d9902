//! OS::Neutron::Subnet: a block of addresses on a network.

use super::common::{tags, value_specs};
use crate::declare::*;

pub(super) fn subnet() -> ResourceType {
    ResourceType::new("OS::Neutron::Subnet")
        .about("A block of addresses on a network.")
        .service(Service::Network)
        .entity("subnet")
        .observable()
        .with(tags)
        .with(value_specs)
        .props([
            prop("allocation_pools", List).updatable().each(record([
                prop("end", Str).required().is("ip_addr"),
                prop("start", Str).required().is("ip_addr"),
            ])),
            prop("cidr", Str).is("net_cidr"),
            prop("dns_nameservers", List).updatable().default_empty(),
            prop("enable_dhcp", Bool).updatable().default(true),
            prop("gateway_ip", Str).updatable(),
            prop("host_routes", List).updatable().each(record([
                prop("destination", Str).required().is("net_cidr"),
                prop("nexthop", Str).required().is("ip_addr"),
            ])),
            prop("ip_version", Int).default(4).one_of([4, 6]),
            prop("ipv6_address_mode", Str)
                .one_of(["dhcpv6-stateful", "dhcpv6-stateless", "slaac"])
                .since("2015.1"),
            prop("ipv6_ra_mode", Str)
                .one_of(["dhcpv6-stateful", "dhcpv6-stateless", "slaac"])
                .since("2015.1"),
            prop("name", Str).updatable(),
            prop("network", Str)
                .required()
                .is("neutron.network")
                .by_name()
                .replaces("network_id")
                .since("2014.2"),
            prop("network_id", Str)
                .is("neutron.network")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `network`."),
            prop("prefixlen", Int).min(0).since("6.0.0"),
            prop("segment", Str)
                .updatable()
                .is("neutron.segment")
                .by_name()
                .since("9.0.0")
                .changed("11.0.0"),
            prop("subnetpool", Str).is("neutron.subnetpool").by_name().since("6.0.0"),
            prop("tenant_id", Str),
        ])
        .attrs([
            attr("allocation_pools", List),
            attr("cidr", Str),
            attr("dns_nameservers", List),
            attr("enable_dhcp", Str),
            attr("gateway_ip", Str),
            attr("host_routes", List),
            attr("ip_version", Str),
            attr("name", Str),
            attr("network_id", Str),
            attr("tenant_id", Str),
        ])
}
