//! AWS::EC2::VPCGatewayAttachment: the connection of a VPC's routers to the external network.

use super::network::{external_network, id, objects, table_of};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::types::neutron::gateway;
use kiln_cloud::get;
use serde_json::{Value as Json, json};

pub(super) fn vpc_gateway_attachment() -> ResourceType {
    ResourceType::new("AWS::EC2::VPCGatewayAttachment")
        .about("The connection of a VPC's routers to the external network.")
        .service(Service::Network)
        .props([
            prop(
                "InternetGatewayId",
                Str,
                "Reference to the internet gateway that the VPC is connected through.",
            ),
            prop("VpcId", Str, "ID of the VPC whose route tables get the way out.").required(),
            prop("VpnGatewayId", Str, "VPN gateway to connect the VPC to; not supported.")
                .unimplemented(),
        ])
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
}

/// The routers of the VPC's route tables.
async fn tables(op: &mut Op) -> Result<Vec<Json>, OpError> {
    let mark = table_of(op.text("VpcId").unwrap_or_default());
    let list = get(Service::Network, "/routers").query("description", mark.as_str());
    let mut tables = objects(&op.read(list).await?, "routers");
    tables.retain(|router| router["description"] == mark.as_str());
    Ok(tables)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let network = external_network(op).await?;
    // The calls below can be repeated, and a delete undoes those that were made.
    op.set_id(op.context().physical_name.clone());
    for router in tables(op).await? {
        let router = id(&router);
        let call = gateway(&router, json!({ "network_id": network }));
        op.call(&format!("gateway {router}"), call).await?;
    }
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    for router in tables(op).await? {
        if router["external_gateway_info"]["network_id"].is_string() {
            let router = id(&router);
            op.remove(&format!("gateway {router}"), gateway(&router, json!({}))).await?;
        }
    }
    op.clear_id();
    Ok(())
}
