//! OS::Neutron::Router: a router between subnets and to an external network.

use super::common::{tags, value_specs};
use crate::declare::*;

pub(super) fn router() -> ResourceType {
    ResourceType::new("OS::Neutron::Router")
        .about("A router between subnets and to an external network.")
        .service(Service::Network)
        .extension("router")
        .entity("router")
        .observable()
        .with(tags)
        .with(value_specs)
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("availability_zone_hints", List).updatable().since("19.0.0"),
            prop("distributed", Bool).since("2015.1"),
            prop("external_gateway_info", Map).updatable().members([
                prop("enable_snat", Bool).updatable(),
                prop("external_fixed_ips", List).updatable().since("6.0.0").each(record([
                    prop("ip_address", Str).is("ip_addr"),
                    prop("subnet", Str).is("neutron.subnet").by_name(),
                ])),
                prop("network", Str).required().updatable().names("neutron.network"),
            ]),
            prop("ha", Bool).since("2015.1"),
            prop("l3_agent_id", Str)
                .updatable()
                .since("2014.1")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `l3_agent_ids`."),
            prop("l3_agent_ids", List)
                .updatable()
                .adds("l3_agent_id")
                .since("2015.1")
                .each(item(Str)),
            prop("name", Str).updatable(),
            prop("tenant_id", Str).since("24.0.0"),
        ])
        .attrs([
            attr("admin_state_up", Str),
            attr("external_gateway_info", Map),
            attr("name", Str),
            attr("status", Str),
            attr("tenant_id", Str),
        ])
}
