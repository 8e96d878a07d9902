//! OS::Neutron::Net: a network, to which subnets and ports belong.

use super::common::{
    Agents, VALUE_SPECS, adjust_fields, built, further_fields, reset, set_tags, tagged,
};
use super::fragments::{admin_state_up_attr, shared_prop, tags, tenant_id_attr, value_specs};
use crate::behaviour::{OperationKind, View};
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::types::fragments::{
    admin_state_up_prop, name_attr, name_prop, status_attr, tenant_id_prop,
};
use crate::wire;
use kiln_cloud::get;
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Map as Fields, Value as Json};

pub(super) fn net() -> ResourceType {
    ResourceType::new("OS::Neutron::Net")
        .plain_data(["segments"])
        .about("A network, to which subnets and ports belong.")
        .service(Service::Network)
        .entity("network")
        .detects_drift()
        .with(tags)
        .with(value_specs)
        .props([
            admin_state_up_prop(),
            prop("availability_zone_hints", List, "Availability zones to prefer when agents are chosen to serve the object.").since("19.0.0"),
            prop("dhcp_agent_ids", List, "IDs of the DHCP agents to serve the network; administrators only.").updatable(),
            prop("dns_domain", Str, "DNS zone in which ports of the network are published, ending with a dot.").updatable().is(DNS_DOMAIN).since("7.0.0"),
            name_prop().updatable(),
            prop("port_security_enabled", Bool, "Whether new ports get security groups and anti-spoofing filters unless they say otherwise.").updatable().since("5.0.0"),
            prop("qos_policy", Str, "Name or ID of the quality-of-service policy for ports without their own.").updatable().is(QOS_POLICY).by_name().since("6.0.0"),
            shared_prop().updatable().default(false),
            tenant_id_prop(),
        ])
        .attrs([
            admin_state_up_attr(),
            attr("l2_adjacency", Bool, "Whether all ports of the network can reach each other on layer 2.").since("9.0.0"),
            attr("mtu", Int, "Largest packet that the network carries, in bytes.").since("5.0.0"),
            name_attr(),
            attr("port_security_enabled", Bool, "Whether port security is the default for new ports.").since("5.0.0"),
            attr("qos_policy_id", Str, "ID of the network's quality-of-service policy, if any.").since("6.0.0"),
            attr("segments", List, "Layer-2 segments of the network, each with all its fields.").since("11.0.0"),
            status_attr(),
            attr("subnets", List, "IDs of the subnets on the network."),
            tenant_id_attr(),
        ])
        .check(further_fields)
        .attributes(segments)
        .rest(
            tagged("/networks", "network").unsent([VALUE_SPECS])
                .field("qos_policy", "qos_policy_id")
                .unsent(["dhcp_agent_ids"])
                .readiness(built())
                .adjust_fields(fields)
                .after_write(|op| Box::pin(after(op))),
        )
}

const AGENTS: Agents = Agents {
    property: "dhcp_agent_ids",
    listed: "/dhcp-agents",
    served: "/dhcp-networks",
    field: "network_id",
};

pub(super) fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if operation == OperationKind::Update {
        reset(fields, "dns_domain", "");
        reset(fields, "port_security_enabled", true);
    }
}

async fn after(op: &mut Op) -> Result<(), OpError> {
    set_tags(op).await?;
    AGENTS.serve(op).await?;
    keep_segments(op).await
}

/// Keeps the segments for the attribute. The first is the one without a name, which the service created with
/// the network.
pub(super) async fn keep_segments(op: &mut Op) -> Result<(), OpError> {
    let id = op.id().cloned().unwrap_or_default();
    let list = get(Service::Network, "/segments").query("network_id", &*id);
    let mut segments = match op.read(list).await {
        Ok(reply) => reply.body["segments"].as_array().cloned().unwrap_or_default(),
        // Some clouds have no segments, or do not show them to users.
        Err(OpError::Failed(failure))
            if matches!(failure.class, FailureClass::NotFound | FailureClass::Forbidden) =>
        {
            Vec::new()
        }
        Err(stop) => return Err(stop),
    };
    segments.sort_by_key(|segment| segment["name"].as_str().is_some_and(|name| !name.is_empty()));
    op.set_data("segments", wire::value(&Json::Array(segments)));
    Ok(())
}

pub(super) fn segments(
    view: &View<'_>,
    name: &str,
    path: &[Value],
) -> Result<Option<Value>, Fault> {
    let segments = view.data.get("segments").unwrap_or(&Value::Null);
    Ok((name == "segments").then(|| step_into_attribute(segments, path)))
}
