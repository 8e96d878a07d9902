//! OS::Neutron::Router: a router between subnets and to an external network.

use super::common::{
    Agents, adjust_fields, built, further_fields, reset, rest_spec, set_tags, tags, value_specs,
};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::items;
use crate::refusals::{conflict, exclusive, is_given, may_be_given};
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
        .check(agents_fit)
        .rest(
            rest_spec("/routers", "router")
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
    listed: "l3-agents",
    served: "l3-routers",
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
