//! AWS::EC2::Subnet: a block of addresses in a VPC, connected to the VPC's router.

use super::key_value;
use super::network::{by_name, interface, needed_router_of, rest_spec, router_of};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest;
use kiln_template::functions::step_into_attribute;

pub(super) fn subnet() -> ResourceType {
    ResourceType::new("AWS::EC2::Subnet")
        .about("A block of addresses in a VPC, connected to the VPC's router.")
        .service(Service::Network)
        .props([
            prop(
                "AvailabilityZone",
                Str,
                "Name of the availability zone that the subnet is meant for.",
            ),
            prop("CidrBlock", Str, "IPv4 range of the subnet, such as `10.0.1.0/24`.").required(),
            prop("Tags", List, "Key and value labels of the subnet; tags are not supported.")
                .each(key_value().unimplemented()),
            prop("VpcId", Str, "ID of the VPC that the subnet belongs to.").required(),
        ])
        .attrs([attr(
            "AvailabilityZone",
            Str,
            "Name of the availability zone as given in the template.",
        )])
        .finder(by_name)
        .deletes(|op| Box::pin(remove(op)))
        .attributes(|view, name, path| {
            let zone = view.properties.get("AvailabilityZone").unwrap_or(&Value::Null);
            Ok((name == "AvailabilityZone").then(|| step_into_attribute(zone, path)))
        })
        .rest(
            rest_spec("/subnets", "subnet")
                .field("CidrBlock", "cidr")
                .field("VpcId", "network_id")
                .constant_field("ip_version", 4)
                .unsent(["AvailabilityZone", "Tags"])
                .after_write(|op| Box::pin(connect(op))),
        )
}

/// Connects a new subnet to the router of its VPC.
async fn connect(op: &mut Op) -> Result<(), OpError> {
    let vpc = op.text("VpcId").unwrap_or_default().to_owned();
    let subnet = op.id().cloned().unwrap_or_default();
    let router = needed_router_of(op, &vpc).await?;
    op.add("interface", interface(&router, "/add_router_interface", &subnet)).await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let vpc = op.text("VpcId").unwrap_or_default().to_owned();
    if let Some(subnet) = op.id().cloned()
        && let Some(router) = router_of(op, &vpc).await?
    {
        let router = super::network::id(&router);
        op.remove("interface", interface(&router, "/remove_router_interface", &subnet)).await?;
    }
    rest::remove(op).await
}
