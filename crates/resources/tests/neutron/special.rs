//! What is special about some types.

use super::network::{
    FLOATING, GROUP, NETWORK, OTHER_PORT, OUTSIDE, PORT, ROUTER, SUBNET, TABLE, world,
};
use crate::driving::Drive;
use crate::rest_world::{RestWorld, change, kind, new, run};
use crate::stack::{Stack, members, view};
use kiln_cloud::Method;
use kiln_resources::behaviour::{DefinitionChange, OperationKind, View};
use kiln_resources::declare::{Members, Value};
use serde_json::{Value as Json, json as body};

/// Makes a resource, which has to go well.
fn made(name: &str, given: &Json, world: &mut RestWorld) -> Drive {
    let kind = kind(name);
    let mut drive = new(&kind, &members(&given.to_string()));
    run(&mut drive, &kind, OperationKind::Create, world, None);
    assert_eq!(drive.result(), &Ok(()), "{name}");
    drive
}

/// Has a resource become another, well or not.
fn changed(drive: &mut Drive, name: &str, given: &Json, world: &mut RestWorld) {
    let kind = kind(name);
    change(drive, &kind, &members(&given.to_string()));
    run(drive, &kind, OperationKind::Update, world, None);
}

fn failure(name: &str, given: &Json, world: &mut RestWorld) -> String {
    let kind = kind(name);
    let mut drive = new(&kind, &members(&given.to_string()));
    run(&mut drive, &kind, OperationKind::Create, world, None);
    drive.failure()
}

/// An attribute, as templates see it.
fn attribute(drive: &Drive, name: &str, attribute: &str) -> Value {
    let stack = Stack::default();
    let properties: &Members = &drive.context.properties;
    let seen = View {
        physical_id: drive.context.physical_id.as_deref(),
        data: &drive.context.data,
        remote: &drive.shown,
        ..view("x", properties, &stack)
    };
    let answer = kind(name).behaviour.attribute.expect("attributes")(&seen, attribute, &[]);
    answer.expect("an attribute").expect("a known attribute")
}

// --- names and descriptions ---

#[test]
fn an_object_with_the_users_name_carries_a_mark_in_its_description() {
    let mut world = world();
    made("OS::Neutron::Net", &body!({ "name": "web" }), &mut world);
    let sent = &world.told_to(Method::Post, "/networks")[0]["network"];
    assert_eq!(sent["name"], "web");
    assert_eq!(sent["description"], "kiln stack-x-abcdefghijkl");
}

#[test]
fn an_object_whose_name_and_description_are_the_users_has_a_mark_only_while_it_is_made() {
    let mut world = world();
    let group = body!({ "name": "web", "description": "mine" });
    made("OS::Neutron::SecurityGroup", &group, &mut world);
    let sent = &world.told_to(Method::Post, "/security-groups")[0]["security_group"];
    assert_eq!(sent["description"], "kiln stack-x-abcdefghijkl");
    assert_eq!(world.all("/security-groups")[1]["description"], "mine");
    made("OS::Neutron::AddressScope", &body!({ "name": "web" }), &mut world);
    let sent = &world.told_to(Method::Post, "/address-scopes")[0]["address_scope"];
    assert_eq!(sent["name"], "stack-x-abcdefghijkl", "it has nothing else for a mark");
    assert_eq!(world.all("/address-scopes")[0]["name"], "web");
}

#[test]
fn a_name_that_is_given_no_more_is_made_up() {
    let mut world = world();
    let mut drive = made("OS::Neutron::Net", &body!({ "name": "web" }), &mut world);
    changed(&mut drive, "OS::Neutron::Net", &body!({}), &mut world);
    assert_eq!(world.all("/networks")[2]["name"], "stack-x-abcdefghijkl");
}

#[test]
fn further_fields_are_sent_beside_the_others_and_again_only_if_they_change() {
    let mut world = world();
    let first = body!({ "value_specs": { "mtu": 1400, "vlan": true } });
    let mut drive = made("OS::Neutron::Net", &first, &mut world);
    let sent = &world.told_to(Method::Post, "/networks")[0]["network"];
    assert_eq!((&sent["mtu"], &sent["vlan"]), (&body!(1400), &body!(true)));
    let then = body!({ "value_specs": { "mtu": 1500, "vlan": true } });
    changed(&mut drive, "OS::Neutron::Net", &then, &mut world);
    let sent = world.told_to(Method::Put, "/networks/id-1");
    assert_eq!(sent, [&body!({ "network": { "mtu": 1500 } })]);
}

#[test]
fn names_are_looked_up_though_schemas_do_not_tell() {
    let mut world = world();
    world.seed("/qos/policies", body!({ "id": "policy-1", "name": "slow" }));
    let rule = body!({ "policy": "slow", "max_kbps": 100 });
    let kind = kind("OS::Neutron::QoSBandwidthLimitRule");
    let mut drive = made(kind.name(), &rule, &mut world);
    assert_eq!(world.all("/qos/policies/policy-1/bandwidth_limit_rules").len(), 1);
    run(&mut drive, &kind, OperationKind::Delete, &mut world, None);
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(world.all("/qos/policies/policy-1/bandwidth_limit_rules").len(), 0);
}

// --- states ---

#[test]
fn states_are_told_in_the_words_that_clients_know() {
    let cases = [
        (
            "OS::Neutron::Net",
            "{}",
            "ERROR",
            "ResourceInError: Went to status ERROR due to \"Unknown\"",
        ),
        (
            "OS::Neutron::Net",
            "{}",
            "ODD",
            "ResourceUnknownStatus: Resource is not built - Unknown status ODD due to \"Unknown\"",
        ),
        (
            "OS::Neutron::Firewall",
            r#"{"firewall_policy_id": "p"}"#,
            "ERROR",
            "ResourceInError: Went to status ERROR due to \"Error in Firewall\"",
        ),
        (
            "OS::Neutron::VPNService",
            r#"{"router": "aaaaaaaa-0000-0000-0000-000000000003",
                "subnet": "aaaaaaaa-0000-0000-0000-000000000002"}"#,
            "ODD",
            "ResourceUnknownStatus: VPNService creation failed - Unknown status ODD due to \"Unknown\"",
        ),
    ];
    for (name, given, status, told) in cases {
        let mut world = world();
        world.status = Some(status);
        let given: Json = serde_json::from_str(given).expect("properties");
        let failure = failure(name, &given, &mut world);
        let (what, next) = failure.split_once(". Next: ").expect("what to do next");
        assert_eq!(what, told, "{name}");
        assert!(next.starts_with("find the cause in what "), "{name}: {next}");
    }
}

// --- subnets ---

#[test]
fn a_gateway_is_none_chosen_or_given() {
    for (given, sent) in
        [("", Some(Json::Null)), ("auto", None), ("10.0.0.9", Some("10.0.0.9".into()))]
    {
        let mut world = world();
        let subnet = body!({ "network": NETWORK, "cidr": "10.0.0.0/24", "gateway_ip": given });
        made("OS::Neutron::Subnet", &subnet, &mut world);
        let body = &world.told_to(Method::Post, "/subnets")[0]["subnet"];
        assert_eq!(body.get("gateway_ip"), sent.as_ref(), "{given}");
    }
}

#[test]
fn a_subnet_keeps_its_segment_and_its_gateway_is_not_chosen_twice() {
    let subnet = |more: Json| {
        let mut all = body!({ "network": NETWORK, "cidr": "10.0.0.0/24" });
        all.as_object_mut().expect("a map").extend(more.as_object().cloned().expect("a map"));
        all
    };
    let mut world = world();
    let mut drive = made("OS::Neutron::Subnet", &subnet(body!({ "segment": GROUP })), &mut world);
    changed(&mut drive, "OS::Neutron::Subnet", &subnet(body!({ "segment": PORT })), &mut world);
    assert!(drive.failure().starts_with("ResourceActionNotSupported: Updating the subnet segment"));
    let auto = subnet(body!({ "segment": PORT, "gateway_ip": "auto" }));
    changed(&mut drive, "OS::Neutron::Subnet", &auto, &mut world);
    assert!(drive.failure().starts_with("ResourceActionNotSupported: The value \"auto\""));
}

/// As in Heat: what the template no longer has is removed, and the service does not choose again.
#[test]
fn a_gateway_and_pools_that_are_removed_from_the_template_are_removed_from_the_subnet() {
    let mut world = world();
    let first = body!({
        "network": NETWORK, "cidr": "10.0.0.0/24", "gateway_ip": "10.0.0.9",
        "allocation_pools": [{ "start": "10.0.0.20", "end": "10.0.0.30" }],
    });
    let mut drive = made("OS::Neutron::Subnet", &first, &mut world);
    let then = body!({ "network": NETWORK, "cidr": "10.0.0.0/24" });
    changed(&mut drive, "OS::Neutron::Subnet", &then, &mut world);
    let body = world.told_to(Method::Put, "/subnets/id-1")[0]["subnet"].clone();
    assert_eq!(body, body!({ "gateway_ip": null, "allocation_pools": [] }));
}

#[test]
fn a_pool_may_only_grow() {
    let mut world = world();
    let first = body!({ "prefixes": ["10.0.0.0/8"] });
    let mut drive = made("OS::Neutron::SubnetPool", &first, &mut world);
    let then = body!({ "prefixes": ["10.0.0.0/16"] });
    changed(&mut drive, "OS::Neutron::SubnetPool", &then, &mut world);
    let told = "StackValidationFailed: Property prefixes updated value ['10.0.0.0/16'] should be superset of \
                existing value ['10.0.0.0/8'].";
    assert_eq!(drive.failure(), told);
}

// --- ports ---

#[test]
fn a_port_has_the_addresses_and_groups_that_it_is_told() {
    let cases = [
        (body!({}), None, None),
        (body!({ "fixed_ips": [], "security_groups": [] }), None, Some(body!([]))),
        (body!({ "no_fixed_ips": true }), Some(body!([])), None),
        (
            body!({ "fixed_ips": [{ "subnet": SUBNET }], "security_groups": ["default"] }),
            Some(body!([{ "subnet_id": SUBNET }])),
            Some(body!([GROUP])),
        ),
    ];
    for (mut given, addresses, groups) in cases {
        let mut world = world();
        given["network"] = NETWORK.into();
        made("OS::Neutron::Port", &given, &mut world);
        let sent = &world.told_to(Method::Post, "/ports")[0]["port"];
        assert_eq!(sent.get("fixed_ips"), addresses.as_ref(), "{given}");
        assert_eq!(sent.get("security_groups"), groups.as_ref(), "{given}");
    }
}

#[test]
fn a_port_whose_groups_are_given_no_more_has_the_usual_one() {
    let mut world = world();
    let first = body!({ "network": NETWORK, "security_groups": [PORT] });
    let mut drive = made("OS::Neutron::Port", &first, &mut world);
    changed(&mut drive, "OS::Neutron::Port", &body!({ "network": NETWORK }), &mut world);
    assert_eq!(world.get("/ports", "id-1").expect("a port")["security_groups"], body!([GROUP]));
}

#[test]
fn what_others_keep_in_a_ports_profile_stays() {
    let mut world = world();
    let mut drive = made("OS::Neutron::Port", &body!({ "network": NETWORK }), &mut world);
    world.get("/ports", "id-1").expect("a port")["binding:profile"] = body!({ "theirs": 1 });
    let then = body!({ "network": NETWORK, "value_specs": { "binding:profile": { "ours": 2 } } });
    changed(&mut drive, "OS::Neutron::Port", &then, &mut world);
    let profile = &world.get("/ports", "id-1").expect("a port")["binding:profile"];
    assert_eq!(*profile, body!({ "theirs": 1, "ours": 2 }));
}

#[test]
fn a_port_tells_of_its_network_and_subnets() {
    let mut world = world();
    let given = body!({ "network": NETWORK, "fixed_ips": [{ "subnet": SUBNET }] });
    let drive = made("OS::Neutron::Port", &given, &mut world);
    let network = attribute(&drive, "OS::Neutron::Port", "network");
    assert_eq!(network.as_map().expect("a map")["name"], "vpc".into());
    let subnets = attribute(&drive, "OS::Neutron::Port", "subnets");
    assert_eq!(subnets.as_list().expect("a list").len(), 1);
}

#[test]
fn a_port_can_ask_to_be_replaced_at_every_update() {
    let replaces = kind("OS::Neutron::Port").behaviour.replaces.expect("a rule");
    for (policy, expected) in [("AUTO", false), ("REPLACE_ALWAYS", true)] {
        let after = members(&body!({ "replacement_policy": policy }).to_string());
        let change = DefinitionChange {
            before: &after,
            after: &after,
            changed: &[],
            metadata_changed: false,
        };
        assert_eq!(replaces(&change), expected, "{policy}");
    }
}

// --- networks ---

#[test]
fn the_segment_that_came_with_a_network_is_told_first() {
    let mut world = world();
    for (id, name) in [("s1", Some("b")), ("s2", None)] {
        world.seed("/segments", body!({ "id": id, "name": name, "network_id": "id-1" }));
    }
    let drive = made("OS::Neutron::Net", &body!({}), &mut world);
    let segments = attribute(&drive, "OS::Neutron::Net", "segments");
    let first = &segments.as_list().expect("a list")[0];
    assert_eq!(first.as_map().expect("a map")["id"], "s2".into());
}

// --- security groups ---

fn rules(world: &RestWorld) -> Vec<String> {
    let told = |rule: &Json| {
        let [a, b, c, d] =
            ["direction", "ethertype", "port_range_min", "remote_group_id"].map(|it| &rule[it]);
        format!("{a} {b} {c} {d}").replace('"', "")
    };
    let mut rules: Vec<String> = world.all("/security-group-rules").iter().map(told).collect();
    rules.sort();
    rules
}

#[test]
fn what_may_leave_is_the_clouds_to_say_unless_the_user_says_it() {
    let group = |rules: Json| body!({ "rules": rules });
    let rule = |direction: &str, mode: &str| {
        body!({ "direction": direction, "ethertype": "IPv4", "remote_mode": mode,
                "protocol": "tcp", "port_range_min": 80, "port_range_max": 80 })
    };
    let mut world = world();
    let first = group(body!([rule("ingress", "remote_group_id")]));
    let mut drive = made("OS::Neutron::SecurityGroup", &first, &mut world);
    let id = drive.context.physical_id.clone().expect("an id");
    let usual = ["egress IPv4 null null".to_owned(), "egress IPv6 null null".to_owned()];
    let own = format!("ingress IPv4 80 {id}");
    assert_eq!(rules(&world), [usual[0].clone(), usual[1].clone(), own], "it trusts itself");
    let then = group(body!([rule("egress", "remote_ip_prefix")]));
    changed(&mut drive, "OS::Neutron::SecurityGroup", &then, &mut world);
    assert_eq!(rules(&world), ["egress IPv4 80 null"]);
    changed(&mut drive, "OS::Neutron::SecurityGroup", &group(body!([])), &mut world);
    assert_eq!(rules(&world), usual);
    assert_eq!(drive.result(), &Ok(()));
}

#[test]
fn a_group_in_use_cannot_forget_what_it_has_seen() {
    let mut world = world();
    let mut drive = made("OS::Neutron::SecurityGroup", &body!({ "stateful": true }), &mut world);
    changed(&mut drive, "OS::Neutron::SecurityGroup", &body!({ "stateful": false }), &mut world);
    assert!(drive.failure().starts_with("NotSupported: Updating the \"stateful\" property"));
}

// --- ties ---

#[test]
fn an_interface_that_somebody_else_made_is_left_alone() {
    let mut world = world();
    let given = body!({ "router": ROUTER, "subnet": SUBNET });
    let kind = kind("OS::Neutron::RouterInterface");
    let mut drive = new(&kind, &members(&given.to_string()));
    run(&mut drive, &kind, OperationKind::Create, &mut world, None);
    assert!(drive.failure().starts_with("BadRequest: "), "{}", drive.failure());
    run(&mut drive, &kind, OperationKind::Delete, &mut world, None);
    assert_eq!(drive.result(), &Ok(()));
    assert!(world.get("/ports", "interface").is_some());
}

#[test]
fn an_interface_of_which_nobody_knows_is_removed_all_the_same() {
    use crate::driving::Seam;
    let mut world = world();
    let given = body!({ "router": ROUTER, "subnet": PORT });
    let kind = kind("OS::Neutron::RouterInterface");
    let mut drive = new(&kind, &members(&given.to_string()));
    // The create gets no further than its call; what comes next is a delete.
    struct Once<'w>(&'w mut RestWorld, bool);
    impl crate::driving::World for Once<'_> {
        fn call(&mut self, call: &kiln_cloud::Call) -> crate::rest_world::Answer {
            if std::mem::replace(&mut self.1, true) {
                Err(kiln_cloud::CallError::NotSent("it is over".into()))
            } else {
                self.0.call(call)
            }
        }
    }
    drive.run_through(&kind, OperationKind::Create, &mut Once(&mut world, false), Seam::After(0));
    assert_eq!(drive.context.physical_id, None);
    assert_eq!(world.all("/ports").len(), 4);
    run(&mut drive, &kind, OperationKind::Delete, &mut world, None);
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(world.all("/ports").len(), 3);
}

#[test]
fn the_id_of_an_interface_says_what_it_connects() {
    let mut world = world();
    let drive = made(
        "OS::Neutron::RouterInterface",
        &body!({ "router": ROUTER, "subnet": GROUP }),
        &mut world,
    );
    let expected = format!("{ROUTER}:subnet_id={GROUP}");
    assert_eq!(drive.context.physical_id.as_deref(), Some(&*expected));
}

#[test]
fn an_address_that_was_given_to_another_port_is_not_freed() {
    let mut world = world();
    let given = body!({ "floatingip_id": FLOATING, "port_id": PORT });
    let kind = kind("OS::Neutron::FloatingIPAssociation");
    let mut drive = made(kind.name(), &given, &mut world);
    world.get("/floatingips", FLOATING).expect("an address")["port_id"] = OTHER_PORT.into();
    run(&mut drive, &kind, OperationKind::Delete, &mut world, None);
    assert_eq!(world.all("/floatingips")[0]["port_id"], OTHER_PORT);
}

#[test]
fn a_port_and_its_address_are_sent_together() {
    let mut world = world();
    let first =
        body!({ "floating_network": OUTSIDE, "port_id": PORT, "fixed_ip_address": "10.0.0.4" });
    let mut drive = made("OS::Neutron::FloatingIP", &first, &mut world);
    let then =
        body!({ "floating_network": OUTSIDE, "port_id": PORT, "fixed_ip_address": "10.0.0.5" });
    changed(&mut drive, "OS::Neutron::FloatingIP", &then, &mut world);
    let sent = world.told_to(Method::Put, "/floatingips/id-1");
    let unmarked = body!({ "floatingip": { "description": "" } });
    let expected = body!({ "floatingip": { "port_id": PORT, "fixed_ip_address": "10.0.0.5" } });
    assert_eq!(sent, [&unmarked, &expected]);
}

/// Neutron: "Cannot update read-only attribute dns_name".
#[test]
fn names_of_a_floating_address_are_sent_only_when_it_is_made() {
    let mut world = world();
    let of = |name: &str, port: &str| body!({ "floating_network": OUTSIDE, "dns_name": name, "dns_domain": "a.example.", "port_id": port });
    let mut drive = made("OS::Neutron::FloatingIP", &of("one", PORT), &mut world);
    assert_eq!(world.all("/floatingips")[1]["dns_name"], "one");
    changed(&mut drive, "OS::Neutron::FloatingIP", &of("two", OTHER_PORT), &mut world);
    let sent = world.told_to(Method::Put, "/floatingips/id-1");
    let moved = body!({ "floatingip": { "port_id": OTHER_PORT, "fixed_ip_address": null } });
    assert_eq!(sent.last(), Some(&&moved));
    let bare = body!({ "floating_network": OUTSIDE, "port_id": OTHER_PORT });
    changed(&mut drive, "OS::Neutron::FloatingIP", &bare, &mut world);
    let named = |sent: &&Json| !sent["floatingip"]["dns_name"].is_null();
    assert!(!world.told_to(Method::Put, "/floatingips/id-1").iter().any(named));
}

#[test]
fn routes_of_others_are_refused_and_left_alone() {
    let route = body!({ "destination": "10.9.0.0/16", "nexthop": "10.0.0.9" });
    let mut world = world();
    world.get("/routers", ROUTER).expect("a router")["routes"] = body!([route]);
    let told = failure(
        "OS::Neutron::ExtraRouteSet",
        &body!({ "router": ROUTER, "routes": [route] }),
        &mut world,
    );
    assert!(told.starts_with("PhysicalResourceExists: The physical resource for ("), "{told}");
    let mut one = route.clone();
    one["router_id"] = ROUTER.into();
    let told = failure("OS::Neutron::ExtraRoute", &one, &mut world);
    assert_eq!(told, "Error: Route duplicates an existing route.");
    assert_eq!(world.all("/routers")[0]["routes"], body!([route]));
}

#[test]
fn a_limit_that_is_given_no_more_is_the_usual_one() {
    let mut world = world();
    let first = body!({ "project": "one", "network": 5, "port": 7 });
    let mut drive = made("OS::Neutron::Quota", &first, &mut world);
    changed(
        &mut drive,
        "OS::Neutron::Quota",
        &body!({ "project": "one", "network": 5 }),
        &mut world,
    );
    assert_eq!(world.all("/quotas"), [body!({ "id": "p1", "network": 5, "port": 500 })]);
}

// --- AWS ---

#[test]
fn an_elastic_address_is_called_by_itself() {
    let mut world = world();
    let drive = made("AWS::EC2::EIP", &body!({ "InstanceId": "server" }), &mut world);
    assert_eq!(world.all("/floatingips")[1]["port_id"], PORT);
    let stack = Stack::default();
    let seen = View { remote: &drive.shown, ..view("x", &drive.context.properties, &stack) };
    let reference = kind("AWS::EC2::EIP").behaviour.reference.expect("a reference")(&seen);
    assert_eq!(reference, "192.0.2.8".into());
    assert_eq!(attribute(&drive, "AWS::EC2::EIP", "AllocationId"), "id-1".into());
}

#[test]
fn there_must_be_one_way_out() {
    let mut world = world();
    world.seed("/networks", body!({ "id": "n", "router:external": true }));
    let told = failure("AWS::EC2::EIP", &body!({}), &mut world);
    assert_eq!(told, "Error: Expected 1 external network, found 2");
}

#[test]
fn a_vpc_has_a_router_of_its_name_and_there_may_be_no_other() {
    let mut world = world();
    made("AWS::EC2::VPC", &body!({}), &mut world);
    assert_eq!(world.all("/routers")[2]["name"], "stack-x-abcdefghijkl");
    world.seed("/routers", body!({ "id": "r", "name": "vpc" }));
    let subnet = body!({ "VpcId": NETWORK, "CidrBlock": "10.1.0.0/24" });
    let told = failure("AWS::EC2::Subnet", &subnet, &mut world);
    assert_eq!(told, "Error: Multiple routers found with name vpc");
}

#[test]
fn an_internet_gateway_leads_out_of_the_route_tables() {
    let mut world = world();
    let given = body!({ "VpcId": NETWORK, "InternetGatewayId": "gateway" });
    made("AWS::EC2::VPCGatewayAttachment", &given, &mut world);
    let table = world.get("/routers", TABLE).expect("a table");
    assert_eq!(table["external_gateway_info"]["network_id"], OUTSIDE);
    assert_eq!(world.all("/routers")[0]["external_gateway_info"], body!({}), "it is no table");
}

#[test]
fn an_address_of_a_vpc_needs_a_way_out_of_it() {
    let mut world = world();
    world.get("/floatingips", FLOATING).expect("an address")["floating_network_id"] =
        OUTSIDE.into();
    let given = body!({ "AllocationId": FLOATING, "NetworkInterfaceId": PORT });
    made("AWS::EC2::EIPAssociation", &given, &mut world);
    assert_eq!(world.all("/routers")[0]["external_gateway_info"]["network_id"], OUTSIDE);
    assert_eq!(world.all("/floatingips")[0]["port_id"], PORT);
}

#[test]
fn rules_of_a_group_in_ec2_terms_are_those_of_the_network_service() {
    let mut world = world();
    let given = body!({ "GroupDescription": "mine", "SecurityGroupIngress": [
        { "IpProtocol": "TCP", "FromPort": "22", "ToPort": "22", "SourceSecurityGroupName": "default" },
        { "IpProtocol": "-1", "FromPort": "-1", "ToPort": "-1", "CidrIp": "10.0.0.0/8" },
    ]});
    made("AWS::EC2::SecurityGroup", &given, &mut world);
    let sent = &world.told_to(Method::Post, "/security-group-rules")[0]["security_group_rules"];
    let id = &world.all("/security-groups")[1]["id"];
    let expected = body!([
        { "direction": "ingress", "ethertype": "IPv4", "security_group_id": id, "protocol": "tcp",
          "port_range_min": "22", "port_range_max": "22", "remote_group_id": GROUP },
        { "direction": "ingress", "ethertype": "IPv4", "security_group_id": id,
          "remote_ip_prefix": "10.0.0.0/8" },
    ]);
    assert_eq!(*sent, expected);
}

/// OSSN-0011: a rule for a group that does not exist let in everybody.
#[test]
fn ossn_0011_a_rule_for_an_unknown_group_is_not_a_rule_for_all() {
    let mut world = world();
    let given = body!({ "GroupDescription": "mine", "SecurityGroupIngress": [
        { "IpProtocol": "tcp", "FromPort": "22", "ToPort": "22", "SourceSecurityGroupName": "no-such-group" },
    ]});
    let message = failure("AWS::EC2::SecurityGroup", &given, &mut world);
    assert!(message.contains("no-such-group"), "{message}");
    assert!(world.told_to(Method::Post, "/security-group-rules").is_empty());
}
