//! OS::Neutron::Port: a point on a network to which a server or another device is connected.

use super::common::{port_settings, tags};
use crate::declare::*;

pub(super) fn port() -> ResourceType {
    ResourceType::new("OS::Neutron::Port")
        .about("A point on a network to which a server or another device is connected.")
        .service(Service::Network)
        .entity("port")
        .observable()
        .with(tags)
        .props(port_settings())
        .props([
            prop("device_id", Str).updatable().default_empty(),
            prop("device_owner", Str).updatable().default_empty(),
            prop("dns_name", Str).updatable().is("dns_name").since("7.0.0"),
            prop("fixed_ips", List).updatable().each(record([
                prop("ip_address", Str).is("ip_addr"),
                prop("subnet", Str)
                    .is("neutron.subnet")
                    .by_name()
                    .replaces("subnet_id")
                    .since("2014.2"),
                prop("subnet_id", Str)
                    .is("neutron.subnet")
                    .deprecated("2014.2 ")
                    .hidden("5.0.0")
                    .note("Use `subnet`."),
            ])),
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
            prop("replacement_policy", Str)
                .updatable()
                .default("AUTO")
                .one_of(["REPLACE_ALWAYS", "AUTO"])
                .since("2014.2")
                .deprecated("6.0.0")
                .hidden("9.0.0"),
            prop("security_groups", List).updatable(),
        ])
        .attrs([
            attr("admin_state_up", Str),
            attr("allowed_address_pairs", List),
            attr("device_id", Str),
            attr("device_owner", Str),
            attr("dns_assignment", Map).since("7.0.0"),
            attr("fixed_ips", List),
            attr("mac_address", Str),
            attr("name", Str),
            attr("network", Map).since("11.0.0"),
            attr("network_id", Str),
            attr("port_security_enabled", Bool).since("5.0.0"),
            attr("propagate_uplink_status", Bool).since("15.0.0"),
            attr("qos_policy_id", Str).since("6.0.0"),
            attr("security_groups", List),
            attr("status", Str),
            attr("subnets", List),
            attr("tenant_id", Str),
        ])
}
