//! OS::Neutron::Router: a router between subnets and to an external network.

use super::common::{
    Agents, VALUE_SPECS, adjust_fields, built, further_fields, reset, set_tags, tagged,
};
use super::fragments::{admin_state_up_attr, tags, tenant_id_attr, value_specs};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::items;
use crate::refusals::{conflict, exclusive, is_given, may_be_given};
use crate::types::fragments::{
    admin_state_up_prop, name_attr, name_prop, status_attr, tenant_id_prop,
};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn router() -> ResourceType {
    ResourceType::new("OS::Neutron::Router")
        .about("A router between subnets and to an external network.")
        .service(Service::Network)
        .extension("router")
        .entity("router")
        .detects_drift()
        .with(tags)
        .with(value_specs)
        .props([
            admin_state_up_prop(),
            prop("availability_zone_hints", List, "Availability zones to prefer when agents are chosen to serve the object.").updatable().since("19.0.0"),
            prop("distributed", Bool, "Whether routing happens on the compute nodes (DVR); usually for administrators to say.").since("2015.1"),
            prop("external_gateway_info", Map, "How the router is connected to an external network.").updatable().members([
                prop("enable_snat", Bool, "Whether outgoing traffic takes on the router's external address.").updatable(),
                prop("external_fixed_ips", List, "Addresses of the router on the external network; chosen by the service if omitted.").updatable().since("6.0.0").each(record([
                    prop("ip_address", Str, "Particular external address to use.").is(IP_ADDR),
                    prop("subnet", Str, "Subnet of the external network to take the address from, by name or ID.").is(SUBNET).by_name(),
                ])),
                prop("network", Str, "External network to connect to, by name or ID.").required().updatable().finds(NETWORK),
            ]),
            prop("ha", Bool, "Whether several agents run the router with failover; usually for administrators to say.").since("2015.1"),
            prop("l3_agent_id", Str, "ID of the layer-3 agent to run the router.")
                .updatable()
                .since("2014.1")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `l3_agent_ids`."),
            prop("l3_agent_ids", List, "IDs of the layer-3 agents to run the router; several need `ha`.")
                .updatable()
                .adds("l3_agent_id")
                .since("2015.1")
                .each(item(Str)),
            name_prop().updatable(),
            tenant_id_prop().since("24.0.0"),
        ])
        .attrs([
            admin_state_up_attr(),
            attr("external_gateway_info", Map, "Connection to the external network, with its addresses."),
            name_attr(),
            status_attr(),
            tenant_id_attr(),
        ])
        .check(agents_fit)
        .rest(
            tagged("/routers", "router").unsent([VALUE_SPECS])
                .field("external_gateway_info.network", "network_id")
                .field("external_gateway_info.external_fixed_ips.subnet", "subnet_id")
                .unsent(["l3_agent_id", "l3_agent_ids"])
                .readiness(built())
                .adjust_fields(fields)
                .after_write(|op| Box::pin(after(op))),
        )
}

const AGENTS: Agents = Agents {
    property: "l3_agent_ids",
    listed: "/l3-agents",
    served: "/l3-routers",
    field: "router_id",
};

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if operation == OperationKind::Update {
        reset(fields, "external_gateway_info", json!({}));
        reset(fields, "availability_zone_hints", json!([]));
    }
}

async fn after(op: &mut Op) -> Result<(), OpError> {
    set_tags(op).await?;
    AGENTS.serve(op).await
}

fn agents_fit(members: &Members) -> Result<(), PropertyError> {
    further_fields(members)?;
    let agents = items(members, "l3_agent_ids");
    if is_given(members, "distributed") && !agents.is_empty() {
        return Err(conflict(&["distributed", "l3_agent_id/l3_agent_ids"]));
    }
    exclusive(members, "distributed", "ha")?;
    if !may_be_given(members, "ha") && agents.len() > 1 {
        return Err(PropertyError::new("Non HA routers can only have one L3 agent."));
    }
    Ok(())
}
