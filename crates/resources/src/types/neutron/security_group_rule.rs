//! OS::Neutron::SecurityGroupRule: one rule of a security group.

use super::common::bare;
use super::fragments::{protocols, traffic_props};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use crate::property_access::number;
use crate::refusals::{exclusive, is_given};
use crate::rest::{self, UpdateMethod};
use crate::types::fragments::description_prop;
use kiln_cloud::{Marker, get};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn security_group_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::SecurityGroupRule")
        .about("One rule of a security group.")
        .service(Service::Network)
        .extension("security-group")
        .entity("security_group_rule")
        .detects_drift()
        .since("7.0.0")
        .props(traffic_props())
        .props([
            description_prop(),
            prop("protocol", Str, "IP protocol of the permitted traffic, by name or number.").default("tcp").one_of(protocols()),
            prop("remote_group", Str, "Group whose members are the other side, by name or ID; excludes `remote_ip_prefix`.").is(SECURITY_GROUP).by_name(),
            prop("security_group", Str, "Group that the rule belongs to, by name or ID.").required().is(SECURITY_GROUP).by_name(),
        ])
        .check(|members| {
            exclusive(members, "remote_group", "remote_ip_prefix")?;
            ports_fit(members)
        })
        .finder(by_content)
        .rest(
            bare("/security-group-rules", "security_group_rule")
                .field("security_group", "security_group_id")
                .field("remote_group", "remote_group_id")
                .update_method(UpdateMethod::Never)
                .adjust_fields(|_: &Op, _: OperationKind, fields| as_sent(fields)),
        )
}

/// Checks that a range of ports begins before it ends. For protocols without ports the numbers have other
/// meanings.
fn ports_fit(members: &Members) -> Result<(), PropertyError> {
    let [from, to] = ["port_range_min", "port_range_max"]
        .map(|name| members.get(name).filter(|_| is_given(members, name)).and_then(number));
    let protocol = members.get("protocol").and_then(Value::as_text);
    let has_ports = protocol.is_some_and(|name| matches!(&**name, "tcp" | "udp" | "sctp" | "dccp"));
    match (from, to) {
        (Some(from), Some(to)) if has_ports && from > to => {
            let message =
                "The minimum port number must be less than or equal to the maximum port number.";
            Err(PropertyError::new(message))
        }
        _ => Ok(()),
    }
}

/// Converts ports and protocols to text, as the service expects.
pub(super) fn as_sent(fields: &mut Fields<String, Json>) {
    for name in ["port_range_min", "port_range_max", "protocol"] {
        if let Some(field) = fields.get_mut(name).filter(|field| field.is_number()) {
            *field = field.to_string().into();
        }
    }
}

/// Finds the rule by its content: the service refuses a second rule with the same content.
fn by_content(op: &Op) -> Option<Marker> {
    let spec = op.rest_spec()?;
    let rule = shown(&rest::new_fields(op, &spec));
    let list = get(Service::Network, "/security-group-rules");
    Some(Marker {
        list: list.query("security_group_id", rule["security_group_id"].as_str()?),
        objects: "/security_group_rules".into(),
        field: String::new(),
        value: rule,
        envelope: Some("security_group_rule".into()),
        path: "/security-group-rules".into(),
        id: "/id".into(),
    })
}

/// A rule as the service shows it, with null for all fields that the request does not have.
pub(super) fn shown(sent: &Fields<String, Json>) -> Json {
    let field = |name: &str| sent.get(name).cloned().unwrap_or_default();
    let port = |name: &str| match field(name) {
        Json::String(text) => text.parse::<u16>().map_or(Json::Null, Json::from),
        other => other,
    };
    let protocol = match field("protocol") {
        Json::String(text) => text.to_lowercase().into(),
        other => other,
    };
    json!({
        "security_group_id": field("security_group_id"),
        "direction": field("direction"),
        "ethertype": field("ethertype"),
        "protocol": protocol,
        "port_range_min": port("port_range_min"),
        "port_range_max": port("port_range_max"),
        "remote_group_id": field("remote_group_id"),
        "remote_ip_prefix": field("remote_ip_prefix"),
    })
}
