//! A network service: plain objects, and what is said to them beyond their fields.

use crate::rest_world::{Answer, RestWorld, ok, refused};
use kiln_cloud::{Call, Method};
use serde_json::{Value as Json, json};

pub(super) const NETWORK: &str = "aaaaaaaa-0000-0000-0000-000000000001";
pub(super) const SUBNET: &str = "aaaaaaaa-0000-0000-0000-000000000002";
pub(super) const ROUTER: &str = "aaaaaaaa-0000-0000-0000-000000000003";
pub(super) const PORT: &str = "aaaaaaaa-0000-0000-0000-000000000004";
pub(super) const FLOATING: &str = "aaaaaaaa-0000-0000-0000-000000000005";
pub(super) const OTHER_PORT: &str = "aaaaaaaa-0000-0000-0000-000000000006";
pub(super) const GROUP: &str = "aaaaaaaa-0000-0000-0000-000000000007";
pub(super) const OUTSIDE: &str = "aaaaaaaa-0000-0000-0000-000000000008";
/// A router that is a route table.
pub(super) const TABLE: &str = "bbbbbbbb-0000-0000-0000-000000000001";

/// A service with one object of the kinds that others lean on. The network with its router is a VPC, too.
pub(crate) fn world() -> RestWorld {
    let mut world = RestWorld::new(special);
    world.seed("/networks", json!({ "id": NETWORK, "name": "vpc", "router:external": false }));
    world.seed("/networks", json!({ "id": OUTSIDE, "name": "public", "router:external": true }));
    world.seed("/subnets", json!({ "id": SUBNET, "network_id": NETWORK, "cidr": "10.0.0.0/24" }));
    world.seed(
        "/routers",
        json!({ "id": ROUTER, "name": "vpc", "routes": [], "external_gateway_info": {} }),
    );
    let description = format!("route table of {NETWORK}");
    world.seed("/routers", json!({ "id": TABLE, "name": "t", "description": description, "external_gateway_info": {} }));
    world.seed("/ports", json!({ "id": PORT, "device_id": "server", "network_id": NETWORK }));
    world.seed(
        "/ports",
        json!({ "id": OTHER_PORT, "device_id": "server-2", "network_id": NETWORK }),
    );
    world.seed(
        "/floatingips",
        json!({ "id": FLOATING, "floating_ip_address": "192.0.2.7", "port_id": null, "fixed_ip_address": null }),
    );
    let ips = json!([{ "subnet_id": SUBNET }]);
    world.seed("/ports", json!({ "id": "interface", "device_id": ROUTER, "fixed_ips": ips }));
    world.seed("/security-groups", json!({ "id": GROUP, "name": "default" }));
    world
}

fn special(world: &mut RestWorld, call: &Call) -> Option<Answer> {
    let body = call.request.body.clone().unwrap_or_default();
    let parts: Vec<&str> =
        call.request.path.checked().expect("a path").trim_start_matches('/').split('/').collect();
    match (call.request.method, parts.as_slice()) {
        (Method::Put, ["routers", router, operation]) => Some(match *operation {
            "add_router_interface" => add_interface(world, router, &body),
            "remove_router_interface" => remove_interface(world, router, &body),
            _ => routes(world, router, operation, &body),
        }),
        (Method::Put, ["trunks", trunk, operation]) => {
            let trunk = world.get("/trunks", trunk).expect("a trunk");
            let ports = &mut trunk["sub_ports"];
            Some(change(ports, &body["sub_ports"], *operation == "add_subports", "port_id"))
        }
        (Method::Put, ["network-gateways", gateway, operation]) => {
            Some(connect(world, gateway, *operation == "connect_network", &body))
        }
        (_, ["agents", agent, _, rest @ ..]) => Some(agents(world, agent, rest, &body)),
        (Method::Get, [_, id, "dhcp-agents" | "l3-agents"]) => {
            let agents = world.all(&format!("/agents of {id}"));
            Some(ok(json!({ "agents": agents })))
        }
        (Method::Get, ["projects"]) => {
            Some(ok(json!({ "projects": [{ "id": "p1", "name": "one" }] })))
        }
        (_, ["quotas", rest @ ..]) => Some(quotas(world, call.request.method, rest, &body)),
        (Method::Post, ["networks" | "routers"]) => {
            let one = if parts[0] == "networks" { "network" } else { "router" };
            let made = world.make(call.request.path.checked().expect("a path"), body[one].clone());
            // Somebody serves it already.
            let id = made["id"].as_str().expect("an id").to_owned();
            world.seed(&format!("/agents of {id}"), json!({ "id": "agent-1" }));
            Some(ok(json!({ one: made })))
        }
        (Method::Delete, ["networks" | "routers", id]) => {
            world.take(&format!("/agents of {id}"), |_| true);
            None
        }
        (Method::Post, ["security-groups"]) => {
            let made = world
                .make(call.request.path.checked().expect("a path"), body["security_group"].clone());
            let group = &made["id"];
            for version in ["IPv4", "IPv6"] {
                let rule = json!({ "security_group_id": group, "direction": "egress", "ethertype": version });
                world.make("/security-group-rules", shown(&rule));
            }
            Some(ok(json!({ "security_group": made })))
        }
        (Method::Delete, ["security-groups", id]) => {
            world.take("/security-group-rules", |rule| rule["security_group_id"] == *id);
            None
        }
        (Method::Post, ["security-group-rules"]) => Some(rules(world, &body)),
        (Method::Post, ["floatingips"]) => {
            let mut made = body["floatingip"].clone();
            made["floating_ip_address"] = "192.0.2.8".into();
            let made = world.make(call.request.path.checked().expect("a path"), made);
            Some(ok(json!({ "floatingip": made })))
        }
        _ => None,
    }
}

fn add_interface(world: &mut RestWorld, router: &str, body: &Json) -> Answer {
    let subnet = &body["subnet_id"];
    let is_there =
        |port: &Json| port["device_id"] == router && port["fixed_ips"][0]["subnet_id"] == *subnet;
    if world.all("/ports").iter().any(is_there) {
        return refused(400, "Bad router request: Router already has a port on subnet.");
    }
    let ips = json!([{ "subnet_id": subnet }]);
    let id = if router == ROUTER && subnet == SUBNET { "interface" } else { "another interface" };
    world.seed("/ports", json!({ "id": id, "device_id": router, "fixed_ips": ips }));
    ok(Json::Null)
}

fn remove_interface(world: &mut RestWorld, router: &str, body: &Json) -> Answer {
    let subnet = &body["subnet_id"];
    let is_it =
        |port: &Json| port["device_id"] == router && port["fixed_ips"][0]["subnet_id"] == *subnet;
    match world.take("/ports", is_it) {
        0 => refused(404, "Router has no interface on subnet"),
        _ => ok(Json::Null),
    }
}

fn routes(world: &mut RestWorld, router: &str, operation: &str, body: &Json) -> Answer {
    let routes = world.get("/routers", router).expect("a router")["routes"].as_array_mut();
    let routes = routes.expect("routes");
    for route in body["router"]["routes"].as_array().expect("routes") {
        routes.retain(|known| known != route);
        if operation == "add_extraroutes" {
            routes.push(route.clone());
        }
    }
    ok(Json::Null)
}

/// Adds members to a list, or removes them: those that are there cannot be added, nor others be removed.
fn change(list: &mut Json, members: &Json, adds: bool, key: &str) -> Answer {
    let mut items = list.as_array().cloned().unwrap_or_default();
    for member in members.as_array().expect("members") {
        let is_there = items.iter().any(|item| item[key] == member[key]);
        match (adds, is_there) {
            (true, true) => return refused(409, "it is there already"),
            (false, false) => return refused(404, "it is not there"),
            (true, false) => items.push(member.clone()),
            (false, true) => items.retain(|item| item[key] != member[key]),
        }
    }
    *list = items.into();
    ok(Json::Null)
}

fn connect(world: &mut RestWorld, gateway: &str, adds: bool, connection: &Json) -> Answer {
    let Some(gateway) = world.get("/network-gateways", gateway) else {
        return refused(404, "no such gateway");
    };
    change(&mut gateway["connections"], &json!([connection]), adds, "network_id")
}

fn agents(world: &mut RestWorld, agent: &str, rest: &[&str], body: &Json) -> Answer {
    let sent = body["network_id"].as_str().or(body["router_id"].as_str());
    let id = rest.first().copied().or(sent).expect("whom to serve");
    let path = format!("/agents of {id}");
    let is_there = world.all(&path).iter().any(|known| known["id"] == agent);
    match (rest.is_empty(), is_there) {
        (true, true) => refused(409, "it is served already"),
        (false, false) => refused(409, "it is not served"),
        (true, false) => {
            world.seed(&path, json!({ "id": agent }));
            ok(Json::Null)
        }
        (false, true) => {
            world.take(&path, |known| known["id"] == agent);
            ok(Json::Null)
        }
    }
}

fn quotas(world: &mut RestWorld, method: Method, rest: &[&str], body: &Json) -> Answer {
    let project = rest[0];
    match (method, rest) {
        (Method::Get, [_, "default"]) => ok(json!({ "quota": { "network": 100, "port": 500 } })),
        (Method::Get, _) => ok(json!({ "quota": world.all("/quotas").first() })),
        (Method::Put, _) => {
            let mut quota =
                world.get("/quotas", project).cloned().unwrap_or(json!({ "id": project }));
            for (name, limit) in body["quota"].as_object().expect("limits") {
                quota[name] = limit.clone();
            }
            world.take("/quotas", |quota| quota["id"] == project);
            world.seed("/quotas", quota);
            ok(Json::Null)
        }
        _ => match world.take("/quotas", |quota| quota["id"] == project) {
            0 => refused(404, "no quota"),
            _ => ok(Json::Null),
        },
    }
}

/// Makes one rule or several: all of them, or none if one is there already.
fn rules(world: &mut RestWorld, body: &Json) -> Answer {
    let many = body["security_group_rules"].as_array().cloned();
    let one = body.get("security_group_rule");
    let rules = many.clone().unwrap_or_else(|| one.into_iter().cloned().collect());
    let rules: Vec<Json> = rules.iter().map(shown).collect();
    let is_there = |rule: &Json| {
        let there = world.all("/security-group-rules").iter();
        there
            .clone()
            .any(|known| rule.as_object().expect("a rule").iter().all(|(k, v)| known[k] == *v))
    };
    if rules.iter().any(is_there) {
        return refused(409, "Security group rule already exists.");
    }
    let made: Vec<Json> =
        rules.into_iter().map(|rule| world.make("/security-group-rules", rule)).collect();
    ok(match many {
        Some(_) => json!({ "security_group_rules": made }),
        None => json!({ "security_group_rule": made[0] }),
    })
}

/// A rule as it is shown: with every field, and ports that are numbers.
fn shown(rule: &Json) -> Json {
    let port = |name: &str| rule[name].as_str().map(|port| port.parse::<u16>().expect("a port"));
    json!({
        "security_group_id": rule["security_group_id"], "direction": rule["direction"],
        "ethertype": rule["ethertype"], "protocol": rule["protocol"],
        "port_range_min": port("port_range_min"), "port_range_max": port("port_range_max"),
        "remote_group_id": rule["remote_group_id"], "remote_ip_prefix": rule["remote_ip_prefix"],
        "description": rule["description"],
    })
}
