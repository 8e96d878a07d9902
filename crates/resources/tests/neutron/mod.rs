//! The types of the network service, and those of AWS that are made of its objects.

mod cases;
mod checks;
pub(crate) mod network;
mod special;

use crate::rest_world::{SupportStatus, kind, new, run};
use crate::stack::members;
use cases::CASES;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::registry::Registry;
use serde_json::Value as Json;
use std::sync::Arc;

#[test]
fn every_type_leaves_nothing_behind_wherever_it_is_interrupted() {
    let mut problems = Vec::new();
    for (name, first, then) in CASES {
        let (first, then) = (members(first), then.map(members));
        let life = SupportStatus { kind: kind(name), first: &first, then: then.as_ref() };
        problems
            .extend(life.check(network::world).err().map(|problem| format!("{name}: {problem}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn what_is_changed_behind_our_back_is_seen_and_nothing_else() {
    let mut seen = 0;
    for (name, first, _) in CASES {
        let (kind, first) = (kind(name), members(first));
        let Some(spec) = kind.behaviour.rest.clone() else { continue };
        let (mut drive, mut world) = (new(&kind, &first), network::world());
        run(&mut drive, &kind, OperationKind::Create, &mut world, None);
        run(&mut drive, &kind, OperationKind::Observe, &mut world, None);
        assert_eq!(drive.result(), &Ok(()), "{name}");
        assert_eq!(drive.drifted.keys().collect::<Vec<_>>(), Vec::<&Arc<str>>::new(), "{name}");
        // A flag or a text that can be changed is, behind our back.
        let id = drive.context.physical_id.clone().expect("an id");
        for property in kind.compared().filter(|it| spec.field_names.iter().all(|f| f.0 != it.name))
        {
            let objects = world.objects.values_mut().flatten();
            let Some(object) = objects.into_iter().find(|it| it["id"] == *id) else { continue };
            let Some(value) = object.get(&*property.name).cloned() else { continue };
            object[&*property.name] = match &value {
                Json::Bool(flag) => (!flag).into(),
                // What was not chosen is not compared.
                Json::String(text)
                    if !text.is_empty()
                        && drive.context.properties[&*property.name]
                            .as_text()
                            .is_some_and(|chosen| !chosen.is_empty()) =>
                {
                    format!("{text}, changed").into()
                }
                _ => continue,
            };
            run(&mut drive, &kind, OperationKind::Observe, &mut world, None);
            let found: Vec<&str> = drive.drifted.keys().map(|name| &**name).collect();
            assert_eq!(found, [&*property.name], "{name}");
            seen += 1;
            let objects = world.objects.values_mut().flatten();
            let object = objects.into_iter().find(|it| it["id"] == *id).expect("as before");
            object[&*property.name] = value;
        }
        let paths: Vec<String> = world.objects.keys().cloned().collect();
        paths.iter().for_each(|path| _ = world.take(path, |object| object["id"] == *id));
        run(&mut drive, &kind, OperationKind::Observe, &mut world, None);
        let is_gone = matches!(drive.result(), Err(stop) if stop.is_not_found());
        assert!(is_gone, "{name}: {:?}", drive.result());
    }
    assert!(seen > 40, "{seen}");
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
