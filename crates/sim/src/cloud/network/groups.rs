//! Security groups and their rules.

use serde_json::{Value, json};

use super::super::request::{Done, RequestContext, flag, object, set, text};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::addresses::Block;
use super::dialect::{Neutron, refusal};
use super::{GROUPS, PORTS, RULES, networks};

pub(super) static GROUP: Collection = Collection {
    name: GROUPS,
    path: "security-groups",
    singular: "security_group",
    plural: "security_groups",
    title: "SecurityGroup",
    quota: Some(("security_group", 10)),
    fields: concat!(
        "name                 text cu \"\"
         stateful             bool cu true
         shared               bool r  false
         security_group_rules list r  []",
        standard!()
    ),
    is_shared: |ctx, row| networks::is_granted(ctx, row),
    make: |ctx, row| {
        let project = text(row, "project_id").to_owned();
        if text(row, "name") == "default" {
            let message = "Default security group already exists.";
            return Err(refusal(409, "SecurityGroupDefaultAlreadyExists", message));
        }
        default_of(ctx.state, &project);
        egress(ctx.state, text(row, "id"), &project);
        Ok(())
    },
    change: |ctx, old, new, _| {
        if text(old, "name") == "default" && text(new, "name") != "default" {
            let message = "Updating default security group not allowed.";
            return Err(refusal(409, "SecurityGroupCannotUpdateDefault", message));
        }
        let id = text(old, "id");
        if old["stateful"] != new["stateful"]
            && ctx.state.table(PORTS).count("security_groups", id) > 0
        {
            return Err(in_use(id, "stateful cannot be changed while the group is in use"));
        }
        Ok(())
    },
    remove,
    show: |ctx, row| {
        let rules = ctx.state.table(RULES).with("security_group_id", text(row, "id"));
        let rules: Vec<Value> = rules
            .into_iter()
            .map(|rule| {
                let mut rule = rule.clone();
                let project = rule.get("project_id").cloned().unwrap_or_default();
                set(&mut rule, "tenant_id", project);
                Value::from(rule)
            })
            .collect();
        set(row, "security_group_rules", rules);
    },
    ..Collection::new(&Neutron)
};

pub(super) static RULE: Collection = Collection {
    name: RULES,
    path: "security-group-rules",
    singular: "security_group_rule",
    plural: "security_group_rules",
    title: "SecurityGroupRule",
    quota: Some(("security_group_rule", 100)),
    operations: "CLSD",
    fields: concat!(
        "security_group_id       ref:network/security_groups c !
         direction               enum:ingress|egress c !
         ethertype               enum:IPv4|IPv6 c \"IPv4\"
         protocol                any  c null
         port_range_min          int  c null
         port_range_max          int  c null
         remote_ip_prefix        any  c null
         remote_group_id         ref:network/security_groups c null
         remote_address_group_id text c null
         normalized_cidr         text r null
         belongs_to_default_sg   bool r false",
        standard!()
    ),
    make: make_rule,
    ..Collection::new(&Neutron)
};

fn in_use(id: &str, reason: &str) -> super::super::request::Refusal {
    refusal(409, "SecurityGroupInUse", format!("Security Group {id} {reason}."))
}

/// Returns the default group of a project, creating it on first use.
pub(in super::super) fn default_of(state: &mut CloudState, project: &str) -> String {
    let groups = state.table(GROUPS).with("project_id", project);
    if let Some(group) = groups.iter().find(|group| text(group, "name") == "default") {
        return text(group, "id").to_owned();
    }
    let id = state.uuid();
    let timestamp = state.timestamp();
    let group = json!({
        "id": id, "name": "default", "stateful": true, "shared": false, "description": "Default security group",
        "project_id": project, "tags": [], "revision_number": 1, "created_at": timestamp, "updated_at": timestamp,
        "security_group_rules": [],
    });
    state.put(GROUPS, &id, object(group));
    for version in ["IPv4", "IPv6"] {
        add_rule(state, &id, project, "ingress", version, json!(id));
    }
    egress(state, &id, project);
    id
}

/// Adds the rules of a new group, which allow all egress traffic.
fn egress(state: &mut CloudState, group: &str, project: &str) {
    for version in ["IPv4", "IPv6"] {
        add_rule(state, group, project, "egress", version, Value::Null);
    }
}

fn add_rule(
    state: &mut CloudState,
    group: &str,
    project: &str,
    direction: &str,
    version: &str,
    remote: Value,
) {
    let id = state.uuid();
    let timestamp = state.timestamp();
    let rule = json!({
        "id": id, "security_group_id": group, "direction": direction, "ethertype": version,
        "protocol": null, "port_range_min": null, "port_range_max": null, "remote_ip_prefix": null,
        "remote_group_id": remote, "remote_address_group_id": null, "normalized_cidr": null,
        "belongs_to_default_sg": false, "description": null, "project_id": project, "tags": [],
        "revision_number": 0, "created_at": timestamp, "updated_at": timestamp,
    });
    state.put(RULES, &id, object(rule));
}

fn remove(ctx: &mut RequestContext<'_>, row: &Obj) -> Done {
    let id = text(row, "id");
    if text(row, "name") == "default" && !ctx.caller.is_admin {
        let message = "Insufficient rights for removing default security group.";
        return Err(refusal(409, "SecurityGroupCannotRemoveDefault", message));
    }
    if ctx.state.table(PORTS).count("security_groups", id) > 0 {
        return Err(in_use(id, "in use"));
    }
    for field in ["security_group_id", "remote_group_id"] {
        for rule in ctx.state.with(RULES, field, id) {
            ctx.state.remove(RULES, text(&rule, "id"));
        }
    }
    Ok(())
}

/// The fields in which two rules must differ.
const SAME: &[&str] = &[
    "direction",
    "ethertype",
    "protocol",
    "port_range_min",
    "port_range_max",
    "remote_ip_prefix",
    "remote_group_id",
    "remote_address_group_id",
];

#[rustfmt::skip]
const PROTOCOLS: &[&str] = &[
    "ah", "dccp", "egp", "esp", "gre", "hopopt", "icmp", "icmpv6", "igmp", "ip", "ipip", "ipv6-encap", "ipv6-frag",
    "ipv6-icmp", "ipv6-nonxt", "ipv6-opts", "ipv6-route", "ospf", "pgm", "rsvp", "sctp", "tcp", "udp", "udplite", "vrrp",
];

fn make_rule(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let group = ctx.state.copy(GROUPS, text(row, "security_group_id"));
    if !ctx.owns(&group) {
        let message = format!("Security group {} does not exist", text(row, "security_group_id"));
        return Err(refusal(404, "SecurityGroupNotFound", message));
    }
    let protocol = match row.get("protocol") {
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::String(word)) if word == "any" => String::new(),
        Some(Value::String(word)) => word.to_ascii_lowercase(),
        _ => String::new(),
    };
    let numbered = protocol.parse::<u8>().is_ok();
    if !protocol.is_empty() && !numbered && !PROTOCOLS.contains(&protocol.as_str()) {
        let values = crate::python::repr_list(PROTOCOLS);
        let message = format!(
            "Security group rule protocol {protocol} not supported. Only protocol values {values} and integer \
             representations [0 to 255] are supported."
        );
        return Err(refusal(400, "SecurityGroupRuleInvalidProtocol", message));
    }
    set(row, "protocol", if protocol.is_empty() { Value::Null } else { json!(protocol) });
    ports_in_order(row, &protocol)?;
    if !row["remote_ip_prefix"].is_null() && !row["remote_group_id"].is_null() {
        let message = "Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.";
        return Err(refusal(400, "SecurityGroupMultipleRemoteEntites", message));
    }
    prefix(row)?;
    let others = ctx.state.table(RULES).with("security_group_id", text(&group, "id"));
    let twin =
        others.iter().find(|other| SAME.iter().all(|name| other.get(*name) == row.get(*name)));
    if let Some(twin) = twin {
        let message =
            format!("Security group rule already exists. Rule id is {}.", text(twin, "id"));
        return Err(refusal(409, "SecurityGroupRuleExists", message));
    }
    if !flag(row, "belongs_to_default_sg") {
        set(row, "belongs_to_default_sg", text(&group, "name") == "default");
    }
    set(row, "project_id", text(&group, "project_id"));
    Ok(())
}

fn ports_in_order(row: &Obj, protocol: &str) -> Done {
    let (min, max) = (row["port_range_min"].as_i64(), row["port_range_max"].as_i64());
    if min.is_none() && max.is_none() {
        return Ok(());
    }
    let bad = |kind: &str, message: &str| Err(refusal(400, kind, message));
    if protocol.is_empty() {
        return bad(
            "SecurityGroupProtocolRequiredWithPorts",
            "Must also specify protocol if port range is given.",
        );
    }
    if ["icmp", "icmpv6", "ipv6-icmp", "1", "58"].contains(&protocol) {
        for (field, attr, value) in
            [("type", "port_range_min", min), ("code", "port_range_max", max)]
        {
            if let Some(value) = value.filter(|value| !(0..=255).contains(value)) {
                let message = format!(
                    "Invalid value for ICMP {field} ({attr}) {value}. It must be 0 to 255."
                );
                return bad("SecurityGroupInvalidIcmpValue", &message);
            }
        }
        if let (None, Some(code)) = (min, max) {
            let message = format!(
                "ICMP code (port-range-max) {code} is provided but ICMP type (port-range-min) is missing."
            );
            return bad("SecurityGroupMissingIcmpType", &message);
        }
        return Ok(());
    }
    match (min, max) {
        (Some(min), Some(max)) if (1..=max).contains(&min) && max <= 65_535 => Ok(()),
        _ => bad(
            "SecurityGroupInvalidPortRange",
            "For TCP/UDP protocols, port_range_min must be <= port_range_max",
        ),
    }
}

/// Converts a single address to a CIDR.
fn prefix(row: &mut Obj) -> Done {
    let supplied = text(row, "remote_ip_prefix").to_owned();
    if supplied.is_empty() {
        set(row, "remote_ip_prefix", Value::Null);
        return Ok(());
    }
    let full = if supplied.contains('/') {
        supplied.clone()
    } else {
        format!("{supplied}/{}", if supplied.contains(':') { 128 } else { 32 })
    };
    let Some(block) = Block::read(&full) else {
        return Err(refusal(
            400,
            "InvalidCIDR",
            format!("Invalid CIDR {supplied} given as IP prefix."),
        ));
    };
    if block.is_v4 != (text(row, "ethertype") == "IPv4") {
        let message =
            format!("Conflicting value ethertype {} for CIDR {supplied}", text(row, "ethertype"));
        return Err(refusal(400, "SecurityGroupRuleParameterConflict", message));
    }
    set(row, "remote_ip_prefix", full);
    set(row, "normalized_cidr", block.text());
    Ok(())
}
