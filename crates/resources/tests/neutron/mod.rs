//! The types of the network service, and those of AWS that are made of its objects.

mod cases;
mod checks;
mod network;
mod special;

use crate::rest_world::{Life, kind};
use crate::stack::members;
use cases::CASES;
use kiln_resources::registry::Registry;

#[test]
fn every_type_leaves_nothing_behind_wherever_it_is_interrupted() {
    let mut problems = Vec::new();
    for (name, first, then) in CASES {
        let (first, then) = (members(first), then.map(members));
        let life = Life { kind: kind(name), first: &first, then: then.as_ref() };
        problems
            .extend(life.check(network::world).err().map(|problem| format!("{name}: {problem}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_type_that_is_used_has_a_case() {
    let aws = ["VPC", "Subnet", "SecurityGroup", "EIP", "EIPAssociation", "VPCGatewayAttachment"];
    let more = ["NetworkInterface", "RouteTable", "SubnetRouteTableAssociation"];
    let aws = aws.iter().chain(&more).map(|name| format!("AWS::EC2::{name}"));
    let ours = Registry::builtin().iter().filter(|kind| !kind.placeholder).map(|kind| kind.name());
    let ours = ours.filter(|name| name.starts_with("OS::Neutron::")).map(str::to_owned);
    for name in ours.chain(aws) {
        assert!(CASES.iter().any(|(known, _, _)| *known == name), "{name} has no case");
    }
}
