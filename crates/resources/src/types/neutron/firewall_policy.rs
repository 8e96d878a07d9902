//! OS::Neutron::FirewallPolicy: an ordered list of firewall rules.

use super::common::{adjust_fields, reset, rest_spec};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn firewall_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::FirewallPolicy")
        .about("An ordered list of firewall rules.")
        .service(Service::Network)
        .extension("fwaas")
        .entity("firewall_policy")
        .detects_drift()
        .props([
            prop("audited", Bool).updatable().default(false),
            prop("description", Str).updatable(),
            prop("firewall_rules", List).updatable(),
            prop("name", Str).updatable(),
            prop("shared", Bool).updatable().default(false),
        ])
        .attrs([
            attr("audited", Str),
            attr("description", Str),
            attr("firewall_rules", List),
            attr("name", Str),
            attr("shared", Str),
            attr("tenant_id", Str),
        ])
        .rest(
            rest_spec("/fw/firewall_policies", "firewall_policy")
                .list_envelope("firewall_policies")
                .adjust_fields(fields),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    reset(fields, "firewall_rules", json!([]));
}
