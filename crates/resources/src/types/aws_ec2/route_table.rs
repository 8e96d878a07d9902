//! AWS::EC2::RouteTable: a router of its own inside a VPC.

use super::key_value;
use super::network::{built, by_name, rest_spec, router_of, table_of};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest;
use serde_json::json;

pub(super) fn route_table() -> ResourceType {
    ResourceType::new("AWS::EC2::RouteTable")
        .about("A router of its own inside a VPC.")
        .service(Service::Network)
        .since("2014.1")
        .props([
            prop("Tags", List, "Key and value labels of the route table; tags are not supported.")
                .each(key_value().unimplemented()),
            prop("VpcId", Str, "ID of the VPC that the route table belongs to.").required(),
        ])
        .finder(by_name)
        .creates(|op| Box::pin(create(op)))
        .rest(rest_spec("/routers", "router").unsent(["Tags", "VpcId"]).readiness(built()))
}

/// Creates a router with the same gateway as the router of the VPC.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let vpc = op.text("VpcId").unwrap_or_default().to_owned();
    let router = router_of(op, &vpc).await?.unwrap_or_default();
    let mut fields = rest::new_fields(op, &spec);
    fields.insert("description".into(), table_of(&vpc).into());
    if let Some(network) = router["external_gateway_info"]["network_id"].as_str() {
        fields.insert("external_gateway_info".into(), json!({ "network_id": network }));
    }
    rest::create_with(op, fields).await
}
