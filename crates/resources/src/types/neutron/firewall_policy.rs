//! OS::Neutron::FirewallPolicy: an ordered list of firewall rules.

use super::common::{plain, reset, shape};
use crate::behaviour::Verb;
use crate::declare::*;
use crate::op::Op;
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn firewall_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::FirewallPolicy")
        .about("An ordered list of firewall rules.")
        .service(Service::Network)
        .extension("fwaas")
        .entity("firewall_policy")
        .observable()
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
        .plain(
            plain("/fw/firewall_policies", "firewall_policy")
                .many("firewall_policies")
                .shape(fields),
        )
}

fn fields(op: &Op, verb: Verb, fields: &mut Fields<String, Json>) {
    shape(op, verb, fields);
    reset(fields, "firewall_rules", json!([]));
}
