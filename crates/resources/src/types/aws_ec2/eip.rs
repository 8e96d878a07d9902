//! AWS::EC2::EIP: a floating IP address, optionally tied to a server.

use super::network::{external_network, id, port_of};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest::{self, RestSpec};
use kiln_template::functions::step_into_attribute;
use serde_json::{Map as Fields, Value as Json};

pub(super) fn eip() -> ResourceType {
    ResourceType::new("AWS::EC2::EIP")
        .about("A floating IP address, optionally tied to a server.")
        .service(Service::Compute)
        .props([
            prop("Domain", Str, "Scope of the address, of which there is only `vpc`.")
                .one_of(["vpc"])
                .deprecated("9.0.0")
                .note("Every address is of the VPC kind; leave it out."),
            prop(
                "InstanceId",
                Str,
                "ID of the server that the address leads to; it stays unbound if omitted.",
            )
            .updatable()
            .is(SERVER),
        ])
        .attrs([attr("AllocationId", Str, "ID of the floating IP in the network service.")])
        .reference(|view| {
            let address = view.remote.as_map().and_then(|shown| shown.get("floating_ip_address"));
            address.cloned().unwrap_or_else(|| view.name.into())
        })
        .attributes(|view, name, path| {
            let id = view.physical_id.map_or(Value::Null, Into::into);
            Ok((name == "AllocationId").then(|| step_into_attribute(&id, path)))
        })
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .rest(
            RestSpec::new(Service::Network, "/floatingips", "floatingip")
                .unsent(["Domain", "InstanceId"])
                .mark_field("description")
                .marks_then_renames(),
        )
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let network = external_network(op).await?;
    let mut fields = rest::new_fields(op, &spec);
    fields.insert("floating_network_id".into(), network.into());
    if let Some(port) = server_port(op).await? {
        fields.insert("port_id".into(), port);
    }
    rest::create_with(op, fields).await
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let port = server_port(op).await?.unwrap_or_default();
    rest::update_with(op, Fields::from_iter([("port_id".to_owned(), port)])).await
}

/// The port of the server that the address is for.
async fn server_port(op: &mut Op) -> Result<Option<Json>, OpError> {
    match op.text("InstanceId").map(str::to_owned) {
        Some(server) => Ok(Some(id(&port_of(op, &server).await?).into())),
        None => Ok(None),
    }
}
