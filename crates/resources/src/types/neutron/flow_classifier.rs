//! OS::Neutron::FlowClassifier: the description of traffic that a port chain steers.

use super::common::rest_spec;
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn flow_classifier() -> ResourceType {
    ResourceType::new("OS::Neutron::FlowClassifier")
        .about("The description of traffic that a port chain steers.")
        .service(Service::Network)
        .unsupported("8.0.0")
        .props([
            description_prop().updatable(),
            prop("destination_ip_prefix", Str, "Destination addresses to match, in CIDR notation.")
                .is(NET_CIDR),
            prop("destination_port_range_max", Int, "Last destination port to match.")
                .range(1, 65535),
            prop("destination_port_range_min", Int, "First destination port to match.")
                .range(1, 65535),
            prop("ethertype", Str, "IP version to match, `IPv4` or `IPv6`.")
                .default("IPv4")
                .one_of(["IPv4", "IPv6"]),
            prop(
                "l7_parameters",
                Map,
                "Application-layer conditions; which ones exist depends on the driver.",
            )
            .unsupported(None),
            prop(
                "logical_destination_port",
                Str,
                "Neutron port that matching traffic is bound for, by name or ID.",
            )
            .is(PORT)
            .by_name(),
            prop(
                "logical_source_port",
                Str,
                "Neutron port that matching traffic comes from, by name or ID.",
            )
            .is(PORT)
            .by_name(),
            name_prop().updatable(),
            prop("protocol", Str, "IP protocol to match.").one_of(["tcp", "udp", "icmp"]),
            prop("source_ip_prefix", Str, "Source addresses to match, in CIDR notation.")
                .is(NET_CIDR),
            prop("source_port_range_max", Int, "Last source port to match.").range(1, 65535),
            prop("source_port_range_min", Int, "First source port to match.").range(1, 65535),
        ])
        .rest(rest_spec("/sfc/flow_classifiers", "flow_classifier"))
}
