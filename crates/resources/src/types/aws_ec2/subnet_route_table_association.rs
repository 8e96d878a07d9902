//! AWS::EC2::SubnetRouteTableAssociation: the move of a subnet from its VPC's router to the router
//! of a route table.

use crate::declare::*;

pub(super) fn subnet_route_table_association() -> ResourceType {
    ResourceType::new("AWS::EC2::SubnetRouteTableAssociation")
        .about("The move of a subnet from its VPC's router to the router of a route table.")
        .service(Service::Network)
        .props([
            prop("RouteTableId", Str).required(),
            prop("SubnetId", Str).required().is("neutron.subnet"),
        ])
}
