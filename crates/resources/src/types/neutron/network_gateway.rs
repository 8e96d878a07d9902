//! OS::Neutron::NetworkGateway: a gateway device that connects networks to the outside on layer 2.

use super::common::{bare, object};
use super::fragments::{network_id_prop, network_prop};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, text};
use crate::rest;
use crate::types::fragments::name_prop;
use crate::wire;
use kiln_cloud::{Call, put};
use serde_json::{Value as Json, json};

pub(super) fn network_gateway() -> ResourceType {
    ResourceType::new("OS::Neutron::NetworkGateway")
        .about("A gateway device that connects networks to the outside on layer 2.")
        .service(Service::Network)
        .entity("network_gateway")
        .detects_drift()
        .since("2014.1")
        .props([
            // The default is a map although the property is a list; Heat shows it so to clients.
            prop("connections", List, "Networks that the gateway connects to the outside.")
                .updatable()
                .default(map::<Value>([]))
                .each(record([
                    network_prop("Network to connect, by name or ID."),
                    network_id_prop("ID of the network to connect."),
                    prop(
                        "segmentation_id",
                        Int,
                        "VLAN ID on the outside, 0 to 4094; only for type `vlan`.",
                    )
                    .range(0, 4094),
                    prop(
                        "segmentation_type",
                        Str,
                        "Whether outside traffic is untagged (`flat`) or tagged (`vlan`).",
                    )
                    .default("flat")
                    .one_of(["flat", "vlan"]),
                ])),
            prop(
                "devices",
                List,
                "Physical devices that make up the gateway; changing them makes a new gateway.",
            )
            .required()
            .updatable()
            .min_length(1)
            .each(record([
                prop("id", Str, "ID of the gateway device.").required(),
                prop("interface_name", Str, "Interface of the device that faces the outside.")
                    .required(),
            ])),
            name_prop().updatable(),
        ])
        .attrs([attr("default", Str, "Whether this is the default gateway of the cloud.")])
        .check(segments_fit)
        // The devices of a gateway cannot change. The former gateway stays until there is another one.
        .replaced_if(|change| change.changed.iter().any(|name| &**name == "devices"))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            bare("/network-gateways", "network_gateway")
                .unsent(["connections"])
                .after_write(|op| Box::pin(connect(op))),
        )
}

fn segments_fit(members: &Members) -> Result<(), PropertyError> {
    for connection in items(members, "connections").iter().filter_map(|it| open(it).as_map()) {
        let id = connection.get("segmentation_id").unwrap_or(&Value::Null);
        match text(connection, "segmentation_type") {
            Some("vlan") if id.is_null() => {
                return Err(PropertyError::new("segmentation_id must be specified for using vlan"));
            }
            Some("flat") if id.unknown().is_none() && id.is_truthy() => {
                let message = "segmentation_id cannot be specified except 0 for using flat";
                return Err(PropertyError::new(message));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The connections in properties, as bodies of requests.
fn connections(properties: &Members) -> Vec<Json> {
    let all = items(properties, "connections").iter().filter_map(|it| open(it).as_map());
    let sent = |it: &Members| {
        let [id, kind] = ["segmentation_id", "segmentation_type"].map(|name| it.get(name));
        json!({
            "network_id": text(it, "network"),
            "segmentation_id": id.filter(|id| id.is_truthy()).map(wire::json),
            "segmentation_type": kind.map(wire::json),
        })
    };
    all.map(sent).collect()
}

fn tell(op: &Op, action: &'static str, connection: &Json) -> Call {
    put(Service::Network, object(op).then(action), connection.clone())
}

/// Adds new connections; the update has removed former ones before.
async fn connect(op: &mut Op) -> Result<(), OpError> {
    let before = connections(&op.context().previous_properties);
    for connection in connections(&op.context().properties) {
        if !before.contains(&connection) {
            let call = tell(op, "/connect_network", &connection);
            op.add(&format!("connect {connection}"), call).await?;
        }
    }
    Ok(())
}

/// Removes former connections, and updates the gateway.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let after = connections(&op.context().properties);
    for connection in connections(&op.context().previous_properties) {
        if !after.contains(&connection) {
            let call = tell(op, "/disconnect_network", &connection);
            op.remove(&format!("disconnect {connection}"), call).await?;
        }
    }
    rest::update(op).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        for connection in connections(&op.context().properties) {
            let call = tell(op, "/disconnect_network", &connection);
            op.remove(&format!("disconnect {connection}"), call).await?;
        }
    }
    rest::remove(op).await
}
