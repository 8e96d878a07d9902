//! Quality of service: policies and rules.

use serde_json::{Value, json};

use super::super::request::{Done, RequestContext, flag, set, text};
use super::super::schema::Collection;
use super::super::table::Obj;
use super::dialect::{Neutron, refusal};
use super::{FLOATING, NETWORKS, POLICIES, PORTS, networks};

pub(super) static POLICY: Collection = Collection {
    name: POLICIES,
    path: "qos/policies",
    singular: "policy",
    plural: "policies",
    title: "QosPolicy",
    fields: concat!(
        "name       text cu \"\"
         shared     bool cua false
         is_default bool cu false
         rules      list r  []",
        standard!()
    ),
    is_shared: |ctx, row| flag(row, "shared") || networks::is_granted(ctx, row),
    remove: |ctx, row| {
        let id = text(row, "id");
        let tables = [("network", NETWORKS), ("port", PORTS), ("floatingip", FLOATING)];
        for (kind, table) in tables {
            if let Some(user) = ctx.state.table(table).with("qos_policy_id", id).first() {
                let message = format!("QoS Policy {id} is used by {kind} {}.", text(user, "id"));
                return Err(refusal(409, "QosPolicyInUse", message));
            }
        }
        for (table, _) in RULES {
            for rule in ctx.state.with(table, "policy_id", id) {
                ctx.state.remove(table, text(&rule, "id"));
            }
        }
        Ok(())
    },
    show: |ctx, row| {
        let mut rules: Vec<Value> = Vec::new();
        for (table, kind) in RULES {
            for rule in ctx.state.table(table).with("policy_id", text(row, "id")) {
                let mut rule = rule.clone();
                let policy = rule.remove("policy_id").unwrap_or_default();
                set(&mut rule, "qos_policy_id", policy);
                set(&mut rule, "type", *kind);
                rules.push(Value::from(rule));
            }
        }
        set(row, "rules", rules);
    },
    ..Collection::new(&Neutron)
};

/// The tables of rules and the names of the rule types.
pub(super) const RULES: &[(&str, &str)] = &[
    ("network/bandwidth_limit_rules", "bandwidth_limit"),
    ("network/dscp_marking_rules", "dscp_marking"),
    ("network/minimum_bandwidth_rules", "minimum_bandwidth"),
    ("network/minimum_packet_rate_rules", "minimum_packet_rate"),
    ("network/packet_rate_limit_rules", "packet_rate_limit"),
];

const fn rule() -> Collection {
    Collection {
        title: "QosRule",
        parent: Some(POLICIES),
        index: &["policy_id"],
        make,
        show: |_, row| {
            row.remove("policy_id");
        },
        ..Collection::new(&Neutron)
    }
}

/// Validates a new rule: a policy has one rule of a type and direction, and only its owner adds rules.
fn make(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let policy = ctx.state.copy(POLICIES, text(row, "policy_id"));
    let path = ctx.request.path.last().cloned().unwrap_or_default();
    let kind = path.trim_end_matches("_rules").to_owned();
    if !ctx.owns(&policy) {
        let message = format!("rule:create_policy_{kind}_rule is disallowed by policy");
        return Err(refusal(403, "PolicyNotAuthorized", message));
    }
    let table = RULES.iter().find(|(_, name)| *name == kind).map_or("", |(table, _)| table);
    let others = ctx.state.table(table).with("policy_id", text(&policy, "id"));
    let twin = others.iter().find(|other| other.get("direction") == row.get("direction"));
    if let Some(twin) = twin {
        let message = format!(
            "Rule {kind} conflicts with rule {} which already exists in QoS Policy {}.",
            text(twin, "id"),
            text(&policy, "id")
        );
        return Err(refusal(409, "QoSRulesConflict", message));
    }
    Ok(())
}

pub(super) static BANDWIDTH: Collection = Collection {
    name: "network/bandwidth_limit_rules",
    path: "qos/policies/{policy_id}/bandwidth_limit_rules",
    singular: "bandwidth_limit_rule",
    plural: "bandwidth_limit_rules",
    fields: "policy_id      text c  !
             max_kbps       int  cu !
             max_burst_kbps int  cu 0
             direction      enum:ingress|egress cu \"egress\"",
    ..rule()
};

pub(super) static DSCP: Collection = Collection {
    name: "network/dscp_marking_rules",
    path: "qos/policies/{policy_id}/dscp_marking_rules",
    singular: "dscp_marking_rule",
    plural: "dscp_marking_rules",
    fields: "policy_id text c  !
             dscp_mark int  cu !",
    ..rule()
};

pub(super) static MINIMUM_BANDWIDTH: Collection = Collection {
    name: "network/minimum_bandwidth_rules",
    path: "qos/policies/{policy_id}/minimum_bandwidth_rules",
    singular: "minimum_bandwidth_rule",
    plural: "minimum_bandwidth_rules",
    fields: "policy_id text c  !
             min_kbps  int  cu !
             direction enum:ingress|egress cu \"egress\"",
    ..rule()
};

pub(super) static MINIMUM_RATE: Collection = Collection {
    name: "network/minimum_packet_rate_rules",
    path: "qos/policies/{policy_id}/minimum_packet_rate_rules",
    singular: "minimum_packet_rate_rule",
    plural: "minimum_packet_rate_rules",
    fields: "policy_id text c  !
             min_kpps  int  cu !
             direction enum:ingress|egress|any cu \"egress\"",
    ..rule()
};

pub(super) static RATE_LIMIT: Collection = Collection {
    name: "network/packet_rate_limit_rules",
    path: "qos/policies/{policy_id}/packet_rate_limit_rules",
    singular: "packet_rate_limit_rule",
    plural: "packet_rate_limit_rules",
    fields: "policy_id      text c  !
             max_kpps       int  cu !
             max_burst_kpps int  cu 0
             direction      enum:ingress|egress|any cu \"egress\"",
    ..rule()
};

/// Returns the document of `/qos/rule-types`.
pub(super) fn rule_types() -> Value {
    let types: Vec<Value> = RULES.iter().map(|(_, kind)| json!({ "type": kind })).collect();
    json!({ "rule_types": types })
}
