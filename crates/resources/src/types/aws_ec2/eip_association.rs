//! AWS::EC2::EIPAssociation: the tie between a floating IP address and a server or network
//! interface.

use super::network::{id, look, objects, port_of, router_of};
use crate::behaviour::DefinitionChange;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::text;
use crate::refusals::{is_given, may_be_given, one_of};
use crate::types::neutron::gateway;
use kiln_cloud::{CallPath, get, put};
use serde_json::{Value as Json, json};

pub(super) fn eip_association() -> ResourceType {
    ResourceType::new("AWS::EC2::EIPAssociation")
        .plain_data(SIDES)
        .about("The tie between a floating IP address and a server or network interface.")
        .service(Service::Compute)
        .props([
            prop(
                "AllocationId",
                Str,
                "ID of the floating IP to bind, as an alternative to its address.",
            )
            .updatable(),
            prop(
                "EIP",
                Str,
                "Floating IP address to bind to the server, as an alternative to its ID.",
            )
            .updatable()
            .is(IP_ADDR),
            prop("InstanceId", Str, "ID of the server that the address leads to.")
                .updatable()
                .is(SERVER),
            prop(
                "NetworkInterfaceId",
                Str,
                "ID of the port that the address leads to, as an alternative to a server.",
            )
            .updatable(),
        ])
        .check(sides_fit)
        .replaced_if(changes_both_sides)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
}

fn sides_fit(members: &Members) -> Result<(), PropertyError> {
    let [eip, allocation] = ["EIP", "AllocationId"].map(|name| may_be_given(members, name));
    let is_both = is_given(members, "EIP") && is_given(members, "AllocationId");
    if is_both || !(eip || allocation) {
        return Err(PropertyError::new("Either 'EIP' or 'AllocationId' must be provided."));
    }
    if is_given(members, "EIP") && !may_be_given(members, "InstanceId") {
        return Err(PropertyError::new("Must specify 'InstanceId' if you specify 'EIP'."));
    }
    one_of(members, &["InstanceId", "NetworkInterfaceId"])
}

fn changes_both_sides(change: &DefinitionChange<'_>) -> bool {
    let changes =
        |names: [&str; 2]| names.iter().any(|it| change.changed.iter().any(|c| &**c == *it));
    changes(["EIP", "AllocationId"]) && changes(["InstanceId", "NetworkInterfaceId"])
}

/// The entries of the resource's data with the ids of both sides.
const SIDES: [&str; 2] = ["floatingip", "port"];

/// Associates the address with the port. An earlier association of the resource is removed first.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let address = address(op).await?;
    let port = port(op).await?;
    let (wanted, tied) = (id(&port), kept(op, SIDES[0]));
    if tied.is_some_and(|tied| tied != id(&address)) {
        release(op).await?;
    }
    op.set_data(SIDES[0], id(&address));
    op.set_data(SIDES[1], wanted.as_str());
    op.set_id(op.context().physical_name.clone());
    if op.text("AllocationId").is_some() {
        lead_outside(op, &port, &address).await?;
    }
    let body = json!({ "floatingip": { "port_id": wanted } });
    let call = put(Service::Network, CallPath::from("/floatingips").id(id(&address)), body);
    op.call("associate", call).await.map(drop)
}

fn kept(op: &Op, side: &str) -> Option<String> {
    op.data(side).and_then(Value::as_text).map(|id| id.to_string())
}

/// Reads the floating IP, which the template names by its address or id.
async fn address(op: &mut Op) -> Result<Json, OpError> {
    let (found, given) = match text(&op.context().properties.clone(), "EIP") {
        Some(eip) => {
            let list = get(Service::Network, "/floatingips").query("floating_ip_address", eip);
            let found = objects(&op.read(list).await?, "floatingips").into_iter().next();
            (found, eip.to_owned())
        }
        None => {
            let id = op.text("AllocationId").unwrap_or_default().to_owned();
            (look(op, CallPath::from("/floatingips").id(&id), "floatingip").await?, id)
        }
    };
    found.ok_or_else(|| {
        OpError::failed(
            FailureClass::NotFound,
            format!("Unable to find floatingip with name or id '{given}'"),
        )
    })
}

/// Reads the port from the template, or the first port of the server in the template.
async fn port(op: &mut Op) -> Result<Json, OpError> {
    if let Some(id) = op.text("NetworkInterfaceId").map(str::to_owned) {
        let port = look(op, CallPath::from("/ports").id(&id), "port").await?;
        return port.ok_or_else(|| {
            OpError::failed(
                FailureClass::NotFound,
                format!("Unable to find port with name or id '{id}'"),
            )
        });
    }
    let server = op.text("InstanceId").unwrap_or_default().to_owned();
    port_of(op, &server).await
}

/// Connects the router of the port's VPC to the network of the address.
async fn lead_outside(op: &mut Op, port: &Json, address: &Json) -> Result<(), OpError> {
    let vpc = port["network_id"].as_str().unwrap_or_default();
    let Some(router) = router_of(op, vpc).await? else { return Ok(()) };
    if router["external_gateway_info"]["network_id"].is_string() {
        return Ok(());
    }
    let network = json!({ "network_id": address["floating_network_id"] });
    op.call("gateway", gateway(&id(&router), network)).await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        release(op).await?;
        op.clear_id();
    }
    Ok(())
}

/// Disassociates the address, unless another port has it by now.
async fn release(op: &mut Op) -> Result<(), OpError> {
    let [Some(address), Some(port)] = SIDES.map(|side| kept(op, side)) else { return Ok(()) };
    let path = CallPath::from("/floatingips").id(address);
    let shown = look(op, path.clone(), "floatingip").await?;
    if shown.is_some_and(|shown| shown["port_id"] == port) {
        let body = json!({ "floatingip": { "port_id": Json::Null } });
        op.remove("release", put(Service::Network, path, body)).await?;
    }
    Ok(())
}
