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
            prop("audited", Bool, "Whether the policy counts as audited; the service clears the mark when rules change.").updatable().default(false),
            prop("description", Str, "Free-form text for people; the service gives it no meaning.").updatable(),
            prop("firewall_rules", List, "IDs of the rules, in the order in which they are tried.").updatable(),
            prop("name", Str, "Human-readable name; made from the stack and resource names if omitted.").updatable(),
            prop("shared", Bool, "Whether all projects may use the object, not only its owner.").updatable().default(false),
        ])
        .attrs([
            attr("audited", Str, "Whether the policy has been audited since its last change."),
            attr("description", Str, "Description that the service has on record."),
            attr("firewall_rules", List, "IDs of the policy's rules, in order."),
            attr("name", Str, "Name that the service has on record."),
            attr("shared", Str, "Whether all projects may use the object."),
            attr("tenant_id", Str, "ID of the project that owns the object."),
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
