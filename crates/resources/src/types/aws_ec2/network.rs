//! The objects behind a VPC: a network, and a router of the same name.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::rest::{Readiness, RestSpec};
use kiln_cloud::{Call, CallPath, Marker, Reply, get, put};
use serde_json::{Value as Json, json};

/// Objects of the network service that have the resource's name.
pub(super) fn rest_spec(path: &'static str, one: &'static str) -> RestSpec {
    RestSpec::new(Service::Network, path, one).adjust_fields(|op, operation, fields| {
        if operation == OperationKind::Create {
            fields.insert("name".into(), (*op.context().physical_name).into());
        }
    })
}

/// When networks, routers and ports are ready.
pub(super) fn built() -> Readiness {
    Readiness::when("status", ["ACTIVE", "DOWN"], ["ERROR", "DEGRADED"])
        .degraded(["DEGRADED"])
        .waiting(["BUILD"])
        .words("", "Resource is not built")
}

/// Finds the resource's object by its name.
pub(super) fn by_name(op: &Op) -> Option<Marker> {
    let spec = op.rest_spec()?;
    Some(named(op, crate::rest::collection(op, &spec), &spec.envelope))
}

/// Finds an object with the resource's name.
pub(super) fn named(op: &Op, path: impl Into<CallPath>, one: &str) -> Marker {
    let path = path.into();
    let name = op.context().physical_name.to_string();
    Marker {
        list: get(Service::Network, path.clone()).query("name", name.as_str()),
        objects: format!("/{one}s"),
        field: "/name".into(),
        value: name.into(),
        envelope: Some(one.into()),
        path,
        id: "/id".into(),
    }
}

/// Reads an object; `None` if it does not exist.
pub(super) async fn look(op: &mut Op, path: CallPath, one: &str) -> Result<Option<Json>, OpError> {
    match op.read(get(Service::Network, path)).await {
        Ok(reply) => Ok(Some(reply.body[one].clone())),
        Err(stop) if stop.is_not_found() => Ok(None),
        Err(stop) => Err(stop),
    }
}

/// The objects of a list.
pub(super) fn objects(reply: &Reply, many: &str) -> Vec<Json> {
    reply.body[many].as_array().cloned().unwrap_or_default()
}

/// Reads the router of a VPC, which has the name of the VPC's network; `None` if either does not exist.
pub(super) async fn router_of(op: &mut Op, vpc: &str) -> Result<Option<Json>, OpError> {
    let Some(network) = look(op, CallPath::from("/networks").id(vpc), "network").await? else {
        return Ok(None);
    };
    let name = network["name"].as_str().unwrap_or_default();
    let list = op.read(get(Service::Network, "/routers").query("name", name)).await?;
    let mut routers = objects(&list, "routers");
    if routers.len() > 1 {
        let message = format!("Multiple routers found with name {name}");
        return Err(OpError::failed(FailureClass::Error, message));
    }
    Ok(routers.pop())
}

/// The id of a VPC's router; it is an error if there is none.
pub(super) async fn needed_router_of(op: &mut Op, vpc: &str) -> Result<String, OpError> {
    match router_of(op, vpc).await? {
        Some(router) => Ok(id(&router)),
        None => Err(OpError::failed(FailureClass::Error, format!("the VPC {vpc} has no router"))),
    }
}

/// The id of an object.
pub(super) fn id(object: &Json) -> String {
    object["id"].as_str().unwrap_or_default().to_owned()
}

/// The id of the external network; it is an error if there is none or more than one.
pub(super) async fn external_network(op: &mut Op) -> Result<String, OpError> {
    let list = get(Service::Network, "/networks").query("router:external", "True");
    let networks = objects(&op.read(list).await?, "networks");
    match networks.as_slice() {
        [network] => Ok(id(network)),
        _ => {
            let message = format!("Expected 1 external network, found {}", networks.len());
            Err(OpError::failed(FailureClass::Error, message))
        }
    }
}

/// Reads the first port of a server.
pub(super) async fn port_of(op: &mut Op, server: &str) -> Result<Json, OpError> {
    let list = op.read(get(Service::Network, "/ports").query("device_id", server)).await?;
    match objects(&list, "ports").into_iter().next() {
        Some(port) => Ok(port),
        None => {
            Err(OpError::failed(FailureClass::Error, format!("the server {server} has no port")))
        }
    }
}

/// The call that adds a subnet to a router or removes it.
pub(super) fn interface(router: &str, action: &'static str, subnet: &str) -> Call {
    let path = CallPath::from("/routers").id(router).then(action);
    put(Service::Network, path, json!({ "subnet_id": subnet }))
}

/// The description of a router that is a route table of a VPC.
pub(super) fn table_of(vpc: &str) -> String {
    format!("route table of {vpc}")
}
