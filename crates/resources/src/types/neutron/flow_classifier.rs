//! OS::Neutron::FlowClassifier: the description of traffic that a port chain steers.

use super::common::rest_spec;
use crate::declare::*;

pub(super) fn flow_classifier() -> ResourceType {
    ResourceType::new("OS::Neutron::FlowClassifier")
        .about("The description of traffic that a port chain steers.")
        .service(Service::Network)
        .unsupported("8.0.0")
        .props([
            prop("description", Str).updatable(),
            prop("destination_ip_prefix", Str).is("net_cidr"),
            prop("destination_port_range_max", Int).range(1, 65535),
            prop("destination_port_range_min", Int).range(1, 65535),
            prop("ethertype", Str).default("IPv4").one_of(["IPv4", "IPv6"]),
            prop("l7_parameters", Map).unsupported(None),
            prop("logical_destination_port", Str).is("neutron.port").by_name(),
            prop("logical_source_port", Str).is("neutron.port").by_name(),
            prop("name", Str).updatable(),
            prop("protocol", Str).one_of(["tcp", "udp", "icmp"]),
            prop("source_ip_prefix", Str).is("net_cidr"),
            prop("source_port_range_max", Int).range(1, 65535),
            prop("source_port_range_min", Int).range(1, 65535),
        ])
        .rest(rest_spec("/sfc/flow_classifiers", "flow_classifier"))
}
