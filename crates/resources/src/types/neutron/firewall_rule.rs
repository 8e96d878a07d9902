//! OS::Neutron::FirewallRule: a rule that lets traffic pass a firewall or stops it.

use super::common::{adjust_fields, rest_spec};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use serde_json::{Map as Fields, Value as Json};

pub(super) fn firewall_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::FirewallRule")
        .about("A rule that lets traffic pass a firewall or stops it.")
        .service(Service::Network)
        .extension("fwaas")
        .entity("firewall_rule")
        .detects_drift()
        .props([
            prop("action", Str).updatable().default("deny").one_of(["allow", "deny"]),
            prop("description", Str).updatable(),
            prop("destination_ip_address", Str).updatable().is("net_cidr"),
            prop("destination_port", Str).updatable(),
            prop("enabled", Bool).updatable().default(true),
            prop("ip_version", Str).updatable().default("4").one_of(["4", "6"]),
            prop("name", Str).updatable(),
            prop("protocol", Str).updatable().default("any").one_of(["tcp", "udp", "icmp", "any"]),
            prop("shared", Bool).updatable().default(false),
            prop("source_ip_address", Str).updatable().is("net_cidr"),
            prop("source_port", Str).updatable(),
        ])
        .attrs([
            attr("action", Str),
            attr("description", Str),
            attr("destination_ip_address", Str),
            attr("destination_port", Str),
            attr("enabled", Str),
            attr("firewall_policy_id", Str),
            attr("ip_version", Str),
            attr("name", Str),
            attr("position", Str),
            attr("protocol", Str),
            attr("shared", Str),
            attr("source_ip_address", Str),
            attr("source_port", Str),
            attr("tenant_id", Str),
        ])
        .rest(rest_spec("/fw/firewall_rules", "firewall_rule").adjust_fields(fields))
}

/// Any protocol is none to the service.
fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if let Some(protocol) = fields.get_mut("protocol").filter(|protocol| *protocol == "any") {
        *protocol = Json::Null;
    }
}
