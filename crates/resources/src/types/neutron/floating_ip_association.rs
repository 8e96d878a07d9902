//! OS::Neutron::FloatingIPAssociation: the tie between a floating IP address and a port.

use super::common::{tie, tied, untied};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::text;
use crate::wire;
use kiln_cloud::{Call, CallPath, get, put};
use serde_json::{Value as Json, json};

pub(super) fn floating_ip_association() -> ResourceType {
    ResourceType::new("OS::Neutron::FloatingIPAssociation")
        .about("The tie between a floating IP address and a port.")
        .service(Service::Network)
        .props([
            prop(
                "fixed_ip_address",
                Str,
                "Address of the port to forward to; needed if the port has several.",
            )
            .updatable()
            .is(IP_ADDR),
            prop("floatingip_id", Str, "ID of the floating IP that is to lead to the port.")
                .required()
                .updatable(),
            prop("port_id", Str, "Port that receives the traffic, by name or ID.")
                .required()
                .updatable()
                .is(PORT),
        ])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let id = op.context().physical_name.clone();
    let call = associate(op);
    tie(op, &id, call).await
}

fn associate(op: &Op) -> Call {
    let fields = json!({
        "port_id": wire::json(op.prop("port_id")),
        "fixed_ip_address": wire::json(op.prop("fixed_ip_address")),
    });
    put(Service::Network, path(op.text("floatingip_id")), json!({ "floatingip": fields }))
}

fn path(id: Option<&str>) -> CallPath {
    CallPath::from("/floatingips").id(id.unwrap_or_default())
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    if op.changes("floatingip_id") {
        let before = op.context().previous_properties.clone();
        release(op, &before).await?;
    }
    op.call("associate", associate(op)).await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if tied(op).await?.is_some() {
        let properties = op.context().properties.clone();
        release(op, &properties).await?;
        untied(op);
    }
    Ok(())
}

/// Disassociates the address, unless another port has it by now.
async fn release(op: &mut Op, properties: &Members) -> Result<(), OpError> {
    let path = path(text(properties, "floatingip_id"));
    let shown = match op.read(get(Service::Network, path.clone())).await {
        Err(stop) if stop.is_not_found() => return Ok(()),
        shown => shown?,
    };
    if shown.text("/floatingip/port_id") == text(properties, "port_id") {
        let body = json!({ "floatingip": { "port_id": Json::Null } });
        op.remove("release", put(Service::Network, path, body)).await?;
    }
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let shown = op.read(get(Service::Network, path(op.text("floatingip_id")))).await?;
    if shown.text("/floatingip/port_id") == op.text("port_id") {
        Ok(())
    } else {
        Err(OpError::failed(FailureClass::NotFound, "the address is not tied to the port any more"))
    }
}
