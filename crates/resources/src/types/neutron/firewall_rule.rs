//! OS::Neutron::FirewallRule: a rule that lets traffic pass a firewall or stops it.

use super::common::{adjust_fields, rest_spec};
use super::fragments::{description_attr, shared_attr, shared_prop, tenant_id_attr};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use crate::types::fragments::{description_prop, name_attr, name_prop};
use serde_json::{Map as Fields, Value as Json};

pub(super) fn firewall_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::FirewallRule")
        .about("A rule that lets traffic pass a firewall or stops it.")
        .service(Service::Network)
        .extension("fwaas")
        .entity("firewall_rule")
        .detects_drift()
        .props([
            prop("action", Str, "What happens to matching traffic: `allow` or `deny`.")
                .updatable()
                .default("deny")
                .one_of(["allow", "deny"]),
            description_prop().updatable(),
            prop(
                "destination_ip_address",
                Str,
                "Destination to match, as an address or in CIDR notation; any if omitted.",
            )
            .updatable()
            .is(NET_CIDR),
            prop(
                "destination_port",
                Str,
                "Destination port to match, or a range such as `80:90`; any if omitted.",
            )
            .updatable(),
            prop("enabled", Bool, "Whether the rule has any effect in its policy.")
                .updatable()
                .default(true),
            prop("ip_version", Str, "IP version of the traffic to match, 4 or 6.")
                .updatable()
                .default("4")
                .one_of(["4", "6"]),
            name_prop().updatable(),
            prop("protocol", Str, "Protocol to match; `any` stands for all of them.")
                .updatable()
                .default("any")
                .one_of(["tcp", "udp", "icmp", "any"]),
            shared_prop().updatable().default(false),
            prop(
                "source_ip_address",
                Str,
                "Source to match, as an address or in CIDR notation; any if omitted.",
            )
            .updatable()
            .is(NET_CIDR),
            prop(
                "source_port",
                Str,
                "Source port to match, or a range such as `1024:65535`; any if omitted.",
            )
            .updatable(),
        ])
        .attrs([
            attr("action", Str, "What the rule does with matching traffic."),
            description_attr(),
            attr(
                "destination_ip_address",
                Str,
                "Destination address or block that the rule matches.",
            ),
            attr("destination_port", Str, "Destination port or range that the rule matches."),
            attr("enabled", Str, "Whether the rule is in effect."),
            attr("firewall_policy_id", Str, "ID of the policy that contains the rule, if any."),
            attr("ip_version", Str, "IP version that the rule matches."),
            name_attr(),
            attr("position", Str, "Place of the rule within its policy, counted from 1."),
            attr("protocol", Str, "Protocol that the rule matches; null for all."),
            shared_attr(),
            attr("source_ip_address", Str, "Source address or block that the rule matches."),
            attr("source_port", Str, "Source port or range that the rule matches."),
            tenant_id_attr(),
        ])
        .rest(rest_spec("/fw/firewall_rules", "firewall_rule").adjust_fields(fields))
}

/// Sends null for the protocol `any`, as the service expects.
fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if let Some(protocol) = fields.get_mut("protocol").filter(|protocol| *protocol == "any") {
        *protocol = Json::Null;
    }
}
