//! OS::Nova::FloatingIPAssociation: the tie of a floating IP address to a server, made by the
//! compute service.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use kiln_cloud::{CallPath, get, put};
use serde_json::{Value as Json, json};

pub(super) fn floating_ip_association() -> ResourceType {
    ResourceType::new("OS::Nova::FloatingIPAssociation")
        .about("The tie of a floating IP address to a server, made by the compute service.")
        .service(Service::Compute)
        .since("2014.1")
        .deprecated("9.0.0")
        .hidden("11.0.0")
        .note("Use OS::Neutron::FloatingIPAssociation.")
        .props([
            prop("floating_ip", Str, "ID of the floating IP that leads to the server.")
                .required()
                .updatable(),
            prop("server_id", Str, "ID of the server that the address leads to.")
                .required()
                .updatable()
                .is(SERVER),
        ])
        .reference(|view| {
            view.physical_id.map_or_else(|| view.name.into(), |_| view.physical_name.into())
        })
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
}

fn floating_ip(id: &str) -> CallPath {
    CallPath::from("/floatingips").id(id)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    lead(op).await?;
    let name = op.context().physical_name.clone();
    op.set_id(name);
    Ok(())
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let before = op.context().previous_properties.clone();
    let old = before.get("floating_ip").and_then(Value::as_text).map(|it| it.to_string());
    if let Some(old) = old.filter(|_| op.changes("floating_ip")) {
        free(op, "free the former", &old).await?;
    }
    lead(op).await
}

/// Associates the address with the first IPv4 address of the server's first interface.
async fn lead(op: &mut Op) -> Result<(), OpError> {
    let server = op.nonempty_text("server_id").unwrap_or_default().to_owned();
    let list = op
        .read(get(Service::Compute, CallPath::from("/servers").id(&server).then("/os-interface")))
        .await?;
    let interface = &list.body["interfaceAttachments"][0];
    let addresses = interface["fixed_ips"].as_array().into_iter().flatten();
    let addresses = addresses.filter_map(|fixed| fixed["ip_address"].as_str());
    let address = addresses.into_iter().find(|address| !address.contains(':'));
    let (Some(port), Some(address)) = (interface["port_id"].as_str(), address) else {
        let message = format!("Server {server} has no interface with an IPv4 address");
        return Err(OpError::failed(FailureClass::Error, message));
    };
    let body = json!({ "floatingip": { "port_id": port, "fixed_ip_address": address } });
    let id = op.nonempty_text("floating_ip").unwrap_or_default().to_owned();
    op.call("lead", put(Service::Network, floating_ip(&id), body)).await.map(drop)
}

async fn free(op: &mut Op, step: &str, id: &str) -> Result<(), OpError> {
    let body = json!({ "floatingip": { "port_id": Json::Null } });
    op.remove(step, put(Service::Network, floating_ip(id), body)).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let id = op.nonempty_text("floating_ip").unwrap_or_default().to_owned();
    free(op, "free", &id).await?;
    op.clear_id();
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let id = op.nonempty_text("floating_ip").unwrap_or_default().to_owned();
    op.read(get(Service::Network, floating_ip(&id))).await.map(drop)
}
