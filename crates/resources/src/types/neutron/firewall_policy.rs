//! OS::Neutron::FirewallPolicy: an ordered list of firewall rules.

use super::common::{adjust_fields, reset, rest_spec};
use super::fragments::{description_attr, shared_attr, shared_prop, tenant_id_attr};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use crate::types::fragments::{description_prop, name_attr, name_prop};
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
            description_prop().updatable(),
            prop("firewall_rules", List, "IDs of the rules, in the order in which they are tried.").updatable(),
            name_prop().updatable(),
            shared_prop().updatable().default(false),
        ])
        .attrs([
            attr("audited", Str, "Whether the policy has been audited since its last change."),
            description_attr(),
            attr("firewall_rules", List, "IDs of the policy's rules, in order."),
            name_attr(),
            shared_attr(),
            tenant_id_attr(),
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
