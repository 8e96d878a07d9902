//! OS::Neutron::Net: a network, to which subnets and ports belong.

use super::common::{tags, value_specs};
use crate::declare::*;
use crate::rest::{Plain, Ready};

pub(super) fn net() -> ResourceType {
    ResourceType::new("OS::Neutron::Net")
        .about("A network, to which subnets and ports belong.")
        .service(Service::Network)
        .entity("network")
        .observable()
        .with(tags)
        .with(value_specs)
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("availability_zone_hints", List).since("19.0.0"),
            prop("dhcp_agent_ids", List).updatable(),
            prop("dns_domain", Str).updatable().is("dns_domain").since("7.0.0"),
            prop("name", Str).updatable(),
            prop("port_security_enabled", Bool).updatable().since("5.0.0"),
            prop("qos_policy", Str).updatable().is("neutron.qos_policy").by_name().since("6.0.0"),
            prop("shared", Bool).updatable().default(false),
            prop("tenant_id", Str),
        ])
        .attrs([
            attr("admin_state_up", Str),
            attr("l2_adjacency", Bool).since("9.0.0"),
            attr("mtu", Int).since("5.0.0"),
            attr("name", Str),
            attr("port_security_enabled", Bool).since("5.0.0"),
            attr("qos_policy_id", Str).since("6.0.0"),
            attr("segments", List).since("11.0.0"),
            attr("status", Str),
            attr("subnets", List),
            attr("tenant_id", Str),
        ])
        .plain(
            Plain::at(Service::Network, "/networks", "network")
                .field("qos_policy", "qos_policy_id")
                .unsent(["dhcp_agent_ids", "tags", "value_specs"])
                .ready(
                    Ready::when("status", ["ACTIVE", "DOWN"], ["ERROR", "DEGRADED"])
                        .waiting(["BUILD"]),
                )
                .label("description"),
        )
}
