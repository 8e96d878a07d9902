//! OS::Neutron::RouterInterface: the connection of a router to a subnet or port.

use super::common::{tie, tied, untied};
use super::fragments::subnet_id_prop;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::refusals::{exclusive, one_of};
use kiln_cloud::{CallPath, get, put};
use serde_json::json;

pub(super) fn router_interface() -> ResourceType {
    ResourceType::new("OS::Neutron::RouterInterface")
        .about("The connection of a router to a subnet or port.")
        .service(Service::Network)
        .extension("router")
        .props([
            prop(
                "port",
                Str,
                "Existing port to plug into the router, by name or ID; excludes `subnet`.",
            )
            .is(PORT)
            .by_name()
            .replaces("port_id")
            .since("2015.1"),
            prop("port_id", Str, "ID of an existing port to plug into the router.")
                .is(PORT)
                .since("2014.1")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `port`."),
            prop("router", Str, "Router that gets the interface, by name or ID.")
                .required()
                .is(ROUTER)
                .by_name()
                .replaces("router_id"),
            prop("router_id", Str, "ID of the router that gets the interface.")
                .is(ROUTER)
                .since("2013.1")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `router`."),
            prop(
                "subnet",
                Str,
                "Subnet whose gateway address the router takes, by name or ID; excludes `port`.",
            )
            .is(SUBNET)
            .by_name()
            .replaces("subnet_id"),
            subnet_id_prop("ID of the subnet whose gateway address the router takes."),
        ])
        .check(|members| {
            exclusive(members, "subnet", "port")?;
            one_of(members, &["subnet", "port"])
        })
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let router = op.text("router").unwrap_or_default().to_owned();
    let (key, end) = match op.text("subnet") {
        Some(subnet) => ("subnet_id", subnet.to_owned()),
        None => ("port_id", op.text("port").unwrap_or_default().to_owned()),
    };
    let path = CallPath::from("/routers").id(&router).then("/add_router_interface");
    let call = put(Service::Network, path, json!({ key: end }));
    tie(op, &format!("{router}:{key}={end}"), call).await
}

/// Splits the physical id into router, kind of the other end and its id. Ids of old resources lack the kind,
/// which is a subnet.
fn ends(id: &str) -> (&str, &str, &str) {
    let (router, end) = id.split_once(':').unwrap_or((id, ""));
    let (key, end) = end.split_once('=').unwrap_or(("subnet_id", end));
    (router, key, end)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = tied(op).await? else { return Ok(()) };
    let (router, key, end) = ends(&id);
    let path = CallPath::from("/routers").id(router).then("/remove_router_interface");
    op.remove("untie", put(Service::Network, path, json!({ key: end }))).await?;
    untied(op);
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    let (router, key, end) = ends(&id);
    let ports = op.read(get(Service::Network, "/ports").query("device_id", router)).await?;
    let mut ports = ports.body["ports"].as_array().into_iter().flatten();
    let is_there = ports.any(|port| match key {
        "port_id" => port["id"] == end,
        _ => port["fixed_ips"].as_array().into_iter().flatten().any(|ip| ip["subnet_id"] == end),
    });
    if is_there {
        Ok(())
    } else {
        Err(OpError::failed(FailureClass::NotFound, format!("the router has no interface {id}")))
    }
}
