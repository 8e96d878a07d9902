//! OS::Neutron::SecurityGroup: a set of rules that say which traffic may reach and leave a port.

use super::common::{adjust_fields, differs, reset, rest_spec};
use super::fragments::{protocols, traffic_props};
use super::security_group_rule::{as_sent, shown};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{items, open, text};
use crate::rest;
use crate::types::fragments::description_prop;
use crate::wire;
use kiln_cloud::{CallPath, Marker, delete, get, post};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn security_group() -> ResourceType {
    ResourceType::new("OS::Neutron::SecurityGroup")
        .about("A set of rules that say which traffic may reach and leave a port.")
        .service(Service::Network)
        .extension("security-group")
        .entity("security_group")
        .detects_drift()
        .since("2014.1")
        .props([
            description_prop().updatable(),
            prop("name", Str, "Human-readable name, but not `default`; made from the stack and resource names if omitted.").updatable(),
            rules(),
            prop("stateful", Bool, "Whether replies to permitted traffic pass without a rule of their own.").updatable().since("27.0.0"),
        ])
        .check(|members| match text(members, "name") {
            Some("default") => {
                Err(PropertyError::new("Security groups cannot be assigned the name \"default\"."))
            }
            _ => Ok(()),
        })
        .updates(|op| Box::pin(update(op)))
        .rest(
            rest_spec("/security-groups", "security_group")
                .unsent(["rules"])
                .adjust_fields(fields)
                .after_write(|op| Box::pin(set_rules(op))),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if operation == OperationKind::Update {
        reset(fields, "stateful", true);
    }
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let id = op.id().cloned().unwrap_or_default();
    if op.changes("stateful") {
        let ports = get(Service::Network, "/ports").query("security_groups", &*id);
        let ports = op.read(ports.query("fields", "id")).await?;
        if ports.body["ports"].as_array().is_some_and(|ports| !ports.is_empty()) {
            let message = format!(
                "Updating the \"stateful\" property while security group \"{id}\" is attached to ports. \
                 Detach all ports from the security group and retry. is not supported."
            );
            return Err(OpError::failed(FailureClass::NotSupported, message));
        }
    }
    rest::update(op).await
}

// --- rules ---

async fn set_rules(op: &mut Op) -> Result<(), OpError> {
    if !differs(op, "rules") {
        return Ok(());
    }
    let group = op.id().cloned().unwrap_or_default();
    let wanted = wanted(op, &group).await?;
    have_rules(op, &group, wanted, false).await
}

/// Creates these rules in a group, and deletes all others that a user could have created. If none of them is for egress,
/// everything may leave, unless an update closes the group.
///
/// The existing rules are read first, so the function can be repeated after an interruption.
pub(crate) async fn have_rules(
    op: &mut Op,
    group: &str,
    mut wanted: Vec<Json>,
    is_closed: bool,
) -> Result<(), OpError> {
    let gives_egress = wanted.iter().any(|rule| rule["direction"] == "egress");
    let is_new = op.context().previous_properties.is_empty();
    if !gives_egress && !is_new && !is_closed {
        wanted.extend(["IPv4", "IPv6"].map(|version| leave(group, version)));
    }
    let list = get(Service::Network, "/security-group-rules").query("security_group_id", group);
    let there = op.read(list.clone()).await?.body["security_group_rules"].clone();
    let there = there.as_array().cloned().unwrap_or_default();
    for rule in &there {
        // A new group has the default rules of the cloud. Those for egress are deleted if the template has
        // egress rules.
        let may_go = !is_new || (gives_egress && rule["direction"] == "egress");
        let id = rule["id"].as_str().unwrap_or_default();
        if may_go && !wanted.iter().any(|wanted| is_same(wanted, rule)) {
            let call = delete(Service::Network, CallPath::from("/security-group-rules").id(id));
            op.remove(&format!("remove {id}"), call).await?;
        }
    }
    wanted.retain(|wanted| !there.iter().any(|rule| is_same(wanted, rule)));
    let Some(first) = wanted.first().and_then(Json::as_object) else { return Ok(()) };
    // The service creates all rules of a request or none, so one is a mark for all.
    let marker = Marker {
        list,
        objects: "/security_group_rules".into(),
        field: String::new(),
        value: shown(first),
        envelope: None,
        path: "/security-group-rules".into(),
        id: "/id".into(),
    };
    let body = json!({ "security_group_rules": wanted });
    let call = post(Service::Network, "/security-group-rules", body).marker(marker);
    op.add("rules", call).await.map(drop)
}

/// The rules of the template as bodies of requests, without duplicates.
async fn wanted(op: &mut Op, group: &str) -> Result<Vec<Json>, OpError> {
    let mut wanted: Vec<Json> = Vec::new();
    for rule in items(&op.context().properties.clone(), "rules") {
        let Some(rule) = open(rule).as_map() else { continue };
        let mut sent = Fields::new();
        for (name, value) in rule.iter().filter(|(_, value)| !value.is_null()) {
            sent.insert(name.to_string(), wire::json(value));
        }
        sent.insert("security_group_id".into(), group.into());
        match sent.remove("remote_mode").as_ref().and_then(Json::as_str) {
            Some("remote_group_id") => {
                sent.remove("remote_ip_prefix");
                let remote = match text(rule, "remote_group_id") {
                    Some(name) => lookup::find_id(op, SECURITY_GROUP, name).await?,
                    None => group.into(),
                };
                sent.insert("remote_group_id".into(), (*remote).into());
            }
            _ => _ = sent.remove("remote_group_id"),
        }
        push(&mut wanted, sent);
    }
    Ok(wanted)
}

/// Adds a rule unless the list has an equal one.
pub(crate) fn push(wanted: &mut Vec<Json>, mut rule: Fields<String, Json>) {
    as_sent(&mut rule);
    let rule = Json::Object(rule);
    if !wanted.iter().any(|other| is_same(other, &rule)) {
        wanted.push(rule);
    }
}

/// The rule that permits all egress.
fn leave(group: &str, version: &str) -> Json {
    json!({ "security_group_id": group, "direction": "egress", "ethertype": version })
}

/// Whether two rules are equal in all fields that a user can set.
fn is_same(one: &Json, other: &Json) -> bool {
    let said = |rule: &Json| {
        let description = rule["description"].as_str().unwrap_or_default().to_owned();
        rule.as_object().map(|rule| (shown(rule), description))
    };
    said(one) == said(other)
}

fn rules() -> Prop {
    let others = [
        description_prop().since("27.0.0"),
        prop("protocol", Str, "IP protocol of the permitted traffic, by name or number.").one_of(protocols()),
        prop("remote_group_id", Str, "Group whose members are the other side; this group itself if omitted.").is(SECURITY_GROUP),
        prop("remote_mode", Str, "Whether the other side is given by addresses (`remote_ip_prefix`) or by group (`remote_group_id`).")
            .default("remote_ip_prefix")
            .one_of(["remote_ip_prefix", "remote_group_id"]),
    ];
    prop("rules", List, "Traffic that is let through; without egress rules, everything may leave.")
        .updatable()
        .default_empty()
        .each(record(traffic_props().into_iter().chain(others)))
}
