//! AWS::EC2::VPC: a private network together with its router.

use super::key_value;
use super::network::{built, by_name, named, rest_spec};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest;
use kiln_cloud::{CallPath, delete, post};
use serde_json::json;

pub(super) fn vpc() -> ResourceType {
    ResourceType::new("AWS::EC2::VPC")
        .about("A private network together with its router.")
        .service(Service::Network)
        .props([
            prop("CidrBlock", Str, "IPv4 range that the subnets of the VPC are meant to be from."),
            prop(
                "InstanceTenancy",
                Str,
                "Whether servers in the VPC have hosts to themselves; not supported.",
            )
            .unimplemented()
            .default("default")
            .one_of(["default", "dedicated"]),
            prop("Tags", List, "Key and value labels of the VPC; tags are not supported.")
                .each(key_value().unimplemented()),
        ])
        .finder(by_name)
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            rest_spec("/networks", "network")
                .unsent(["CidrBlock", "InstanceTenancy", "Tags"])
                .readiness(built())
                .after_write(|op| Box::pin(make_router(op))),
        )
}

/// Creates the router. It has the name of the network, by which later operations find it.
async fn make_router(op: &mut Op) -> Result<(), OpError> {
    if !op.context().previous_properties.is_empty() {
        return Ok(());
    }
    let body = json!({ "router": { "name": &*op.context().physical_name } });
    let call = post(Service::Network, "/routers", body).marker(named(op, "/routers", "router"));
    op.copy("router", call, "/router/id").await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let marker = named(op, "/routers", "router");
    let routers = op.read(marker.list.clone()).await?;
    for router in marker.found(&routers) {
        let id = super::network::id(router);
        op.remove(
            &format!("router {id}"),
            delete(Service::Network, CallPath::from("/routers").id(id)),
        )
        .await?;
    }
    rest::remove(op).await
}
