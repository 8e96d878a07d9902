//! OS::Neutron::Trunk: a port that carries the traffic of several networks to one server.

use super::common::{adjust_fields, built, object, reset, rest_spec};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, text};
use crate::types::fragments::{description_prop, name_prop};
use crate::wire;
use kiln_cloud::put;
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn trunk() -> ResourceType {
    ResourceType::new("OS::Neutron::Trunk")
        .about("A port that carries the traffic of several networks to one server.")
        .service(Service::Network)
        .extension("trunk")
        .entity("trunk")
        .detects_drift()
        .since("9.0.0")
        .props([
            prop(
                "admin_state_up",
                Bool,
                "Administrative state; while `false`, sub-ports can be neither added nor removed.",
            )
            .updatable(),
            description_prop().updatable(),
            name_prop().updatable(),
            prop("port", Str, "Parent port, which carries the untagged traffic, by name or ID.")
                .required()
                .immutable()
                .is(PORT)
                .by_name(),
            prop("sub_ports", List, "Ports whose traffic travels tagged over the parent port.")
                .updatable()
                .each(record([
                    prop("port", Str, "Port to attach to the trunk, by name or ID.")
                        .required()
                        .is(PORT)
                        .by_name(),
                    prop(
                        "segmentation_id",
                        Int,
                        "Tag of the sub-port's traffic on the trunk, 1 to 4094.",
                    )
                    .required()
                    .range(1, 4094),
                    prop(
                        "segmentation_type",
                        Str,
                        "How the sub-port's traffic is tagged, which is `vlan`.",
                    )
                    .required()
                    .one_of(["vlan"]),
                ])),
        ])
        .attrs([attr("port_id", Str, "ID of the parent port.")])
        .rest(
            rest_spec("/trunks", "trunk")
                .field("port", "port_id")
                .field("sub_ports.port", "port_id")
                .readiness(built())
                .adjust_fields(fields)
                .after_write(|op| Box::pin(move_sub_ports(op))),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if operation == OperationKind::Update {
        fields.remove("sub_ports");
        reset(fields, "admin_state_up", true);
    }
}

/// Adds and removes sub-ports with separate calls, so that the others stay connected.
async fn move_sub_ports(op: &mut Op) -> Result<(), OpError> {
    if !op.changes("sub_ports") {
        return Ok(());
    }
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let (before, after) = (items(&before, "sub_ports"), items(&after, "sub_ports"));
    let gone: Vec<Json> =
        only_in(before, after).map(|port| json!({ "port_id": port["port_id"] })).collect();
    let new: Vec<Json> = only_in(after, before).collect();
    if !gone.is_empty() {
        let path = object(op).then("/remove_subports");
        let call = put(Service::Network, path, json!({ "sub_ports": gone }));
        op.remove("remove sub ports", call).await?;
    }
    if !new.is_empty() {
        let path = object(op).then("/add_subports");
        let call = put(Service::Network, path, json!({ "sub_ports": new }));
        op.add("add sub ports", call).await?;
    }
    Ok(())
}

/// The sub-ports in one list and not in the other, as bodies of requests.
fn only_in<'v>(one: &'v [Value], other: &'v [Value]) -> impl Iterator<Item = Json> + 'v {
    let lacks = move |port: &&Value| !other.iter().any(|other| other.equals(port));
    one.iter().filter(lacks).filter_map(|port| open(port).as_map()).map(|port| {
        let [id, kind] =
            ["segmentation_id", "segmentation_type"].map(|it| port.get(it).map(wire::json));
        json!({ "port_id": text(port, "port"), "segmentation_id": id, "segmentation_type": kind })
    })
}
