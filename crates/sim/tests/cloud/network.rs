//! The network service.

use serde_json::{Value, json};

use super::test_cloud::TestCloud;

const V2: &str = "/network/v2.0";

impl TestCloud {
    fn net(&self) -> (String, String) {
        let net = self.make(&format!("{V2}/networks"), "network", json!({ "name": "n" }));
        let subnet = self.subnet(&net, "10.1.0.0/24");
        (net, subnet)
    }

    fn subnet(&self, net: &str, cidr: &str) -> String {
        let version = if cidr.contains(':') { 6 } else { 4 };
        let fields = json!({ "network_id": net, "cidr": cidr, "ip_version": version });
        self.make(&format!("{V2}/subnets"), "subnet", fields)
    }

    fn port(&self, fields: Value) -> String {
        self.make(&format!("{V2}/ports"), "port", fields)
    }

    fn public(&self) -> String {
        let found = self.get(&format!("{V2}/networks?name=public"));
        found["networks"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Creates a router from the subnet to the external network.
    fn router(&self, subnet: &str) -> String {
        let gateway = json!({ "network_id": self.public() });
        let id = self.make(
            &format!("{V2}/routers"),
            "router",
            json!({ "external_gateway_info": gateway }),
        );
        let path = format!("PUT {V2}/routers/{id}/add_router_interface");
        self.demo(&path, json!({ "subnet_id": subnet })).has(200);
        id
    }
}

#[test]
fn a_new_cloud_is_as_devstack_leaves_it() {
    let cloud = TestCloud::new();
    let nets = cloud.get(&format!("{V2}/networks"));
    let names: Vec<&str> = nets["networks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|net| net["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["public", "private"]);
    assert_eq!(nets["networks"][0]["router:external"], true);
    let routers = cloud.get(&format!("{V2}/routers?name=router1"));
    assert_eq!(routers["routers"][0]["external_gateway_info"]["enable_snat"], true);
    let subnets = cloud.get(&format!("{V2}/subnets?name=private-subnet"));
    assert_eq!(subnets["subnets"][0]["cidr"], "10.0.0.0/26");
    let docs = cloud.ask("", "GET", "/network/", Value::Null).unwrap().has(200).body;
    assert_eq!(docs["versions"][0]["id"], "v2.0");
}

#[test]
fn networks_are_made_shown_changed_and_removed() {
    let cloud = TestCloud::new();
    let made = cloud
        .demo(&format!("POST {V2}/networks"), json!({ "network": { "name": "n" } }))
        .has(201)
        .body;
    let net = &made["network"];
    assert_eq!(
        (&net["status"], &net["admin_state_up"], &net["shared"]),
        (&json!("ACTIVE"), &json!(true), &json!(false))
    );
    assert_eq!(net["tenant_id"], json!(cloud.demo_project()));
    assert_eq!(net["project_id"], net["tenant_id"]);
    let path = format!("{V2}/networks/{}", net["id"].as_str().unwrap());
    let changed =
        cloud.demo(&format!("PUT {path}"), json!({ "network": { "name": "m" } })).has(200).body;
    assert_eq!(
        (&changed["network"]["name"], &changed["network"]["revision_number"]),
        (&json!("m"), &json!(2))
    );
    cloud.demo(&format!("PUT {path}/tags"), json!({ "tags": ["b", "a"] })).has(200);
    assert_eq!(
        cloud.get(&format!("{V2}/networks?tags=a,b"))["networks"][0]["tags"],
        json!(["a", "b"])
    );
    assert_eq!(
        cloud.get(&format!("{V2}/networks?not-tags=a"))["networks"].as_array().unwrap().len(),
        2
    );
    cloud.demo(&format!("DELETE {path}/tags/a"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {path}"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {path}"), Value::Null).has(404);
}

#[test]
fn what_makes_no_sense_is_refused_in_neutrons_words() {
    let cloud = TestCloud::new();
    let net =
        |fields: Value| cloud.demo(&format!("POST {V2}/networks"), json!({ "network": fields }));
    net(json!({ "colour": "red" })).neutron(
        400,
        "HTTPBadRequest",
        "Unrecognized attribute(s) 'colour'",
    );
    net(json!({ "status": "x" })).neutron(
        400,
        "HTTPBadRequest",
        "Attribute 'status' not allowed in POST",
    );
    net(json!({ "admin_state_up": "maybe" })).neutron(
        400,
        "InvalidInput",
        "Invalid input for operation: 'maybe' cannot be converted to boolean.",
    );
    net(json!({ "shared": true })).neutron(
        403,
        "PolicyNotAuthorized",
        "(rule:create_network and rule:create_network:shared) is disallowed by policy",
    );
    cloud.demo(&format!("POST {V2}/subnets"), json!({ "subnet": { "ip_version": 4 } })).neutron(
        400,
        "HTTPBadRequest",
        "Failed to parse request. Required attribute 'network_id' not specified",
    );
    cloud.demo(&format!("POST {V2}/networks"), json!({ "net": {} })).neutron(
        400,
        "HTTPBadRequest",
        "Unable to find 'network' in request body",
    );
    cloud.demo(&format!("GET {V2}/networks/nope"), Value::Null).neutron(
        404,
        "NetworkNotFound",
        "Network nope could not be found.",
    );
    let public = cloud.public();
    cloud.demo(&format!("DELETE {V2}/networks/{public}"), Value::Null).neutron(
        403,
        "PolicyNotAuthorized",
        "rule:delete_network is disallowed by policy",
    );
    let other = json!({ "tenant_id": "somebody" });
    net(other).has(400);
}

#[test]
fn subnets_have_gateways_and_pools() {
    let cloud = TestCloud::new();
    let (net, subnet) = cloud.net();
    let shown = cloud.get(&format!("{V2}/subnets/{subnet}"))["subnet"].clone();
    assert_eq!(shown["gateway_ip"], "10.1.0.1");
    assert_eq!(shown["allocation_pools"], json!([{ "start": "10.1.0.2", "end": "10.1.0.254" }]));
    let again =
        json!({ "subnet": { "network_id": net, "cidr": "10.1.0.128/25", "ip_version": 4 } });
    cloud.demo(&format!("POST {V2}/subnets"), again).neutron(
        400, "InvalidInput",
        &format!("Invalid input for operation: Requested subnet with cidr: 10.1.0.128/25 for network: {net} overlaps with another subnet."),
    );
    let fields = json!({
        "network_id": net, "cidr": "10.2.0.0/24", "ip_version": 4, "gateway_ip": null,
        "allocation_pools": [{ "start": "10.2.0.10", "end": "10.2.0.11" }],
    });
    let small = cloud.make(&format!("{V2}/subnets"), "subnet", fields);
    let on_small = json!({ "network_id": net, "fixed_ips": [{ "subnet_id": small }] });
    for _ in 0..2 {
        cloud.port(on_small.clone());
    }
    cloud.demo(&format!("POST {V2}/ports"), json!({ "port": on_small })).neutron(
        409,
        "IpAddressGenerationFailure",
        &format!("No more IP addresses available on network {net}."),
    );
    cloud.demo(&format!("DELETE {V2}/subnets/{small}"), Value::Null).neutron(
        409, "SubnetInUse",
        &format!("Unable to complete operation on subnet {small}: One or more ports have an IP allocation from this subnet."),
    );
    let bad = json!({ "subnet": { "network_id": net, "cidr": "10.3.0.0/24", "ip_version": 4, "gateway_ip": "10.4.0.1" } });
    cloud.demo(&format!("POST {V2}/subnets"), bad).neutron(
        400,
        "InvalidInput",
        "Invalid input for operation: Gateway is not valid on subnet.",
    );
    cloud.subnet(&net, "fd00:1::/64");
    let both = cloud.port(json!({ "network_id": net }));
    let ips = cloud.get(&format!("{V2}/ports/{both}"))["port"]["fixed_ips"].clone();
    assert_eq!(ips.as_array().unwrap().len(), 2, "one of each version: {ips}");
}

#[test]
fn ports_have_addresses_groups_and_reasons_to_stay() {
    let cloud = TestCloud::new();
    let (net, subnet) = cloud.net();
    let id = cloud.port(
        json!({ "network_id": net, "name": "p", "fixed_ips": [{ "ip_address": "10.1.0.77" }] }),
    );
    let port = cloud.get(&format!("{V2}/ports/{id}"))["port"].clone();
    assert_eq!(port["fixed_ips"], json!([{ "subnet_id": subnet, "ip_address": "10.1.0.77" }]));
    assert!(port["mac_address"].as_str().unwrap().starts_with("fa:16:3e:"));
    assert_eq!(port["status"], "DOWN");
    let group = port["security_groups"][0].as_str().unwrap();
    assert_eq!(
        cloud.get(&format!("{V2}/security-groups/{group}"))["security_group"]["name"],
        "default"
    );
    let twin =
        json!({ "port": { "network_id": net, "fixed_ips": [{ "ip_address": "10.1.0.77" }] } });
    cloud.demo(&format!("POST {V2}/ports"), twin).neutron(
        409,
        "IpAddressAlreadyAllocated",
        &format!("IP address 10.1.0.77 already allocated in subnet {subnet}"),
    );
    let outside =
        json!({ "port": { "network_id": net, "fixed_ips": [{ "ip_address": "10.9.0.1" }] } });
    cloud.demo(&format!("POST {V2}/ports"), outside).neutron(
        400,
        "InvalidIpForNetwork",
        "IP address 10.9.0.1 is not a valid IP for any of the subnets on the specified network.",
    );
    let found = cloud.get(&format!("{V2}/ports?fixed_ips=ip_address%3D10.1.0.77&network_id={net}"));
    assert_eq!(found["ports"][0]["id"], json!(id));
    let none = cloud.port(json!({ "network_id": net, "fixed_ips": [], "security_groups": [] }));
    let shown = cloud.get(&format!("{V2}/ports/{none}"))["port"].clone();
    assert_eq!((&shown["fixed_ips"], &shown["security_groups"]), (&json!([]), &json!([])));
    cloud.demo(&format!("DELETE {V2}/networks/{net}"), Value::Null).neutron(
        409, "NetworkInUse",
        &format!("Unable to complete operation on network {net}. There are one or more ports still in use on the network."),
    );
    cloud.demo(&format!("DELETE {V2}/security-groups/{group}"), Value::Null).has(409);
    for port in [id, none] {
        cloud.demo(&format!("DELETE {V2}/ports/{port}"), Value::Null).has(204);
    }
    cloud.demo(&format!("DELETE {V2}/networks/{net}"), Value::Null).has(204);
    cloud.demo(&format!("GET {V2}/subnets/{subnet}"), Value::Null).has(404);
    let many = json!({ "ports": [{ "network_id": net }] });
    cloud.demo(&format!("POST {V2}/ports"), many).neutron(
        404,
        "NetworkNotFound",
        &format!("Network {net} could not be found."),
    );
}

#[test]
fn routers_connect_and_floating_addresses_reach_through_them() {
    let cloud = TestCloud::new();
    let (net, subnet) = cloud.net();
    let port = cloud.port(json!({ "network_id": net }));
    let public = cloud.public();
    let body = json!({ "floating_network_id": public, "port_id": port });
    cloud.demo(&format!("POST {V2}/floatingips"), json!({ "floatingip": body })).neutron(
        404, "ExternalGatewayForFloatingIPNotFound",
        &format!("External network {public} is not reachable from subnet {subnet}.  Therefore, cannot associate Port {port} with a Floating IP."),
    );
    let router = cloud.router(&subnet);
    let floating = cloud.make(&format!("{V2}/floatingips"), "floatingip", body.clone());
    let shown = cloud.get(&format!("{V2}/floatingips/{floating}"))["floatingip"].clone();
    assert!(shown["floating_ip_address"].as_str().unwrap().starts_with("172.24.4."));
    assert_eq!((&shown["router_id"], &shown["status"]), (&json!(router), &json!("ACTIVE")));
    cloud.demo(&format!("POST {V2}/floatingips"), json!({ "floatingip": body })).has(409);
    let renamed = json!({ "floatingip": { "dns_name": "other" } });
    cloud.demo(&format!("PUT {V2}/floatingips/{floating}"), renamed).neutron(
        400,
        "HTTPBadRequest",
        "Cannot update read-only attribute dns_name",
    );
    let moved = json!({ "port": { "fixed_ips": [{ "subnet_id": subnet }] } });
    cloud.demo(&format!("PUT {V2}/ports/{port}"), moved).neutron(
        400, "BadRequest",
        &format!("Bad port request: Cannot update the fixed_ips of the port {port}, because its original fixed_ip has been associated to a floating ip"),
    );
    let interface = json!({ "subnet_id": subnet });
    cloud.demo(&format!("PUT {V2}/routers/{router}/remove_router_interface"), interface.clone()).neutron(
        409, "RouterInterfaceInUseByFloatingIP",
        &format!("Router interface for subnet {subnet} on router {router} cannot be deleted, as it is required by one or more floating IPs."),
    );
    cloud
        .demo(
            &format!("PUT {V2}/routers/{router}"),
            json!({ "router": { "external_gateway_info": {} } }),
        )
        .has(409);
    cloud.demo(&format!("DELETE {V2}/routers/{router}"), Value::Null).neutron(
        409,
        "RouterInUse",
        &format!("Router {router} still has ports"),
    );
    cloud
        .demo(
            &format!("PUT {V2}/floatingips/{floating}"),
            json!({ "floatingip": { "port_id": null } }),
        )
        .has(200);
    cloud
        .demo(&format!("PUT {V2}/routers/{router}/remove_router_interface"), interface.clone())
        .has(200);
    cloud.demo(&format!("PUT {V2}/routers/{router}/remove_router_interface"), interface).neutron(
        404,
        "RouterInterfaceNotFoundForSubnet",
        &format!("Router {router} has no interface on subnet {subnet}"),
    );
    cloud.demo(&format!("DELETE {V2}/floatingips/{floating}"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {V2}/routers/{router}"), Value::Null).has(204);
    let left =
        cloud.admin(&format!("GET {V2}/ports?network_id={public}"), Value::Null).has(200).body;
    assert_eq!(left["ports"].as_array().unwrap().len(), 1, "only the gateway of router1");
}

#[test]
fn routes_have_to_lead_somewhere() {
    let cloud = TestCloud::new();
    let (_, subnet) = cloud.net();
    let router = cloud.router(&subnet);
    let routes = |hop: &str| json!({ "router": { "routes": [{ "destination": "10.8.0.0/16", "nexthop": hop }] } });
    let add = format!("PUT {V2}/routers/{router}/add_extraroutes");
    cloud.demo(&add, routes("192.0.2.1")).neutron(
        400, "InvalidRoutes",
        "Invalid format for routes: [{'destination': '10.8.0.0/16', 'nexthop': '192.0.2.1'}], the nexthop is not connected with router.",
    );
    for _ in 0..2 {
        let shown = cloud.demo(&add, routes("10.1.0.9")).has(200).body;
        assert_eq!(shown["router"]["routes"].as_array().unwrap().len(), 1);
    }
    cloud
        .demo(
            &format!("PUT {V2}/routers/{router}/remove_router_interface"),
            json!({ "subnet_id": subnet }),
        )
        .has(409);
    let shown = cloud
        .demo(&format!("PUT {V2}/routers/{router}/remove_extraroutes"), routes("10.1.0.9"))
        .has(200)
        .body;
    assert_eq!(shown["router"]["routes"], json!([]));
}

#[test]
fn security_groups_begin_with_egress_and_take_rules_at_once() {
    let cloud = TestCloud::new();
    let id = cloud.make(&format!("{V2}/security-groups"), "security_group", json!({ "name": "g" }));
    let group = cloud.get(&format!("{V2}/security-groups/{id}"))["security_group"].clone();
    assert_eq!(group["security_group_rules"].as_array().unwrap().len(), 2);
    assert_eq!(group["security_group_rules"][0]["direction"], "egress");
    let rule = |port: i64| {
        json!({
            "security_group_id": id, "direction": "ingress", "protocol": "tcp",
            "port_range_min": port.to_string(), "port_range_max": port, "remote_ip_prefix": "0.0.0.0/0",
        })
    };
    let path = format!("POST {V2}/security-group-rules");
    let made =
        cloud.demo(&path, json!({ "security_group_rules": [rule(80), rule(443)] })).has(201).body;
    assert_eq!(made["security_group_rules"][0]["port_range_min"], 80);
    let twin = made["security_group_rules"][1]["id"].as_str().unwrap();
    let before = cloud.count("network/security_group_rules");
    cloud.demo(&path, json!({ "security_group_rules": [rule(22), rule(443)] })).neutron(
        409,
        "SecurityGroupRuleExists",
        &format!("Security group rule already exists. Rule id is {twin}."),
    );
    assert_eq!(cloud.count("network/security_group_rules"), before, "all or nothing");
    let mut wrong = rule(80);
    wrong["port_range_max"] = json!(1);
    cloud.demo(&path, json!({ "security_group_rule": wrong })).neutron(
        400,
        "SecurityGroupInvalidPortRange",
        "For TCP/UDP protocols, port_range_min must be <= port_range_max",
    );
    cloud.demo(&format!("DELETE {V2}/security-groups/{id}"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {V2}/security-groups/{id}"), Value::Null).neutron(
        404,
        "SecurityGroupNotFound",
        &format!("Security group {id} does not exist"),
    );
}

#[test]
fn networks_are_shared_with_those_who_may() {
    let cloud = TestCloud::new();
    let made = cloud
        .admin(&format!("POST {V2}/networks"), json!({ "network": { "name": "theirs" } }))
        .has(201)
        .body;
    let id = made["network"]["id"].as_str().unwrap().to_owned();
    cloud.demo(&format!("GET {V2}/networks/{id}"), Value::Null).has(404);
    let policy = json!({ "rbac_policy": {
        "object_type": "network", "object_id": id, "action": "access_as_shared", "target_tenant": cloud.demo_project(),
    } });
    cloud.admin(&format!("POST {V2}/rbac-policies"), policy.clone()).has(201);
    cloud.admin(&format!("POST {V2}/rbac-policies"), policy).has(409);
    assert_eq!(cloud.get(&format!("{V2}/networks/{id}"))["network"]["shared"], true);
    cloud.demo(&format!("POST {V2}/ports"), json!({ "port": { "network_id": id } })).has(201);
}

#[test]
fn the_number_of_a_networks_only_segment_can_change() {
    let cloud = TestCloud::new();
    let vlan = json!({
        "provider:network_type": "vlan", "provider:physical_network": "physnet1",
        "provider:segmentation_id": 100,
    });
    let made =
        cloud.admin(&format!("POST {V2}/networks"), json!({ "network": vlan })).has(201).body;
    let id = made["network"]["id"].as_str().unwrap();
    let path = format!("PUT {V2}/networks/{id}");
    let change = |field: &str, to: Value| {
        let mut network = json!({});
        network[field] = to;
        cloud.admin(&path, json!({ "network": network }))
    };
    let changed = change("provider:segmentation_id", json!(101)).has(200).body;
    assert_eq!(changed["network"]["provider:segmentation_id"], 101);
    let listed =
        cloud.admin(&format!("GET {V2}/segments?network_id={id}"), Value::Null).has(200).body;
    assert_eq!(listed["segments"][0]["segmentation_id"], 101);
    change("provider:physical_network", json!("physnet1")).has(200);
    change("provider:physical_network", json!("physnet2")).has(400);
}
