//! AWS::EC2::SubnetRouteTableAssociation: the move of a subnet from its VPC's router to the router
//! of a route table.

use super::network::{id, interface, look, router_of};
use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use kiln_cloud::CallPath;

pub(super) fn subnet_route_table_association() -> ResourceType {
    ResourceType::new("AWS::EC2::SubnetRouteTableAssociation")
        .about("The move of a subnet from its VPC's router to the router of a route table.")
        .service(Service::Network)
        .props([
            prop("RouteTableId", Str, "ID of the route table whose router the subnet moves to.")
                .required(),
            prop("SubnetId", Str, "Name or ID of the subnet that is moved to the route table.")
                .required()
                .is(SUBNET),
        ])
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
}

/// The id of the router of the subnet's VPC.
async fn usual_router(op: &mut Op, subnet: &str) -> Result<Option<String>, OpError> {
    let Some(subnet) = look(op, CallPath::from("/subnets").id(subnet), "subnet").await? else {
        return Ok(None);
    };
    let vpc = subnet["network_id"].as_str().unwrap_or_default();
    Ok(router_of(op, vpc).await?.map(|router| id(&router)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let [table, subnet] =
        ["RouteTableId", "SubnetId"].map(|name| op.text(name).unwrap_or_default().to_owned());
    let subnet = lookup::find_id(op, SUBNET, &subnet).await?;
    // A delete moves the subnet back to its former router, however far the steps below got.
    op.set_id(format!("{table}:{subnet}"));
    if let Some(router) = usual_router(op, &subnet).await? {
        op.remove("leave", interface(&router, "/remove_router_interface", &subnet)).await?;
    }
    op.add("join", interface(&table, "/add_router_interface", &subnet)).await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(tie) = op.id().cloned() else { return Ok(()) };
    let (table, subnet) = tie.split_once(':').unwrap_or_default();
    op.remove("leave", interface(table, "/remove_router_interface", subnet)).await?;
    if let Some(router) = usual_router(op, subnet).await? {
        match op.add("join", interface(&router, "/add_router_interface", subnet)).await {
            // The subnet is still on its former router.
            Err(stop) if stop.is_already_done() || stop.is_not_found() => {}
            joined => _ = joined?,
        }
    }
    op.clear_id();
    Ok(())
}
