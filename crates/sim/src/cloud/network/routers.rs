//! Routers: gateways, interfaces, routes.

use serde_json::{Value, json};

use super::super::request::{
    Answer, Done, Refusal, Reply, RequestContext, flag, list, object, set, text,
};
use super::super::rest;
use super::super::schema::Collection;
use super::super::table::Obj;
use super::addresses::{Block, number};
use super::dialect::{Neutron, bad_value, invalid_input, refusal};
use super::{FLOATING, NETWORKS, PORTS, ROUTERS, SUBNETS, internal};

pub(super) static ROUTER: Collection = Collection {
    name: ROUTERS,
    path: "routers",
    singular: "router",
    plural: "routers",
    title: "Router",
    quota: Some(("router", 10)),
    fields: concat!(
        "name                    text cu \"\"
         admin_state_up          bool cu true
         external_gateway_info   any  cu null
         distributed             bool cua false
         ha                      bool cua false
         routes                  list u  []
         flavor_id               text c  null
         enable_ndp_proxy        bool cu false
         availability_zone_hints list c  []
         availability_zones      list r  []
         conntrack_helpers       list r  []
         status                  text r  \"ACTIVE\"",
        standard!()
    ),
    make: |ctx, row| {
        set(row, "availability_zones", json!(["nova"]));
        let wanted = row.get("external_gateway_info").cloned().unwrap_or_default();
        set(row, "external_gateway_info", Value::Null);
        gateway(ctx, row, wanted)
    },
    change: |ctx, old, new, sent| {
        if let Some(routes) = sent.get("routes") {
            valid_routes(ctx, old, routes)?;
        }
        if let Some(wanted) = sent.get("external_gateway_info").cloned() {
            set(new, "external_gateway_info", old["external_gateway_info"].clone());
            gateway(ctx, new, wanted)?;
        }
        Ok(())
    },
    remove,
    ..Collection::new(&Neutron)
};

/// The device owner of internal router ports.
const INTERFACE: &str = "network:router_interface";
const GATEWAY: &str = "network:router_gateway";

fn ports_of(ctx: &RequestContext<'_>, router: &str, owner: &str) -> Vec<Obj> {
    let mut ports = ctx.state.with(PORTS, "device_id", router);
    ports.retain(|port| text(port, "device_owner") == owner);
    ports
}

/// Sets the gateway of the router; null or an empty object removes it.
fn gateway(ctx: &mut RequestContext<'_>, row: &mut Obj, wanted: Value) -> Done {
    let id = text(row, "id").to_owned();
    let old = ports_of(ctx, &id, GATEWAY);
    let network = wanted["network_id"].as_str().unwrap_or_default().to_owned();
    if network.is_empty() {
        if old.is_empty() {
            return Ok(());
        }
        without_floating(ctx, &id, &old)?;
        old.iter().for_each(|port| drop(ctx.state.remove(PORTS, text(port, "id"))));
        set(row, "external_gateway_info", Value::Null);
        return Ok(());
    }
    let target = ctx.state.copy(NETWORKS, &network);
    if target.is_empty() {
        let message = format!("Network {network} could not be found.");
        return Err(refusal(404, "NetworkNotFound", message));
    }
    if !flag(&target, "router:external") {
        let message = format!("Bad router request: Network {network} is not an external network.");
        return Err(refusal(400, "BadRequest", message));
    }
    let stays = old.first().is_some_and(|port| text(port, "network_id") == network);
    let ips = wanted["external_fixed_ips"].as_array().filter(|ips| !ips.is_empty());
    let port = if stays && ips.is_none() {
        old[0].clone()
    } else {
        if !stays {
            without_floating(ctx, &id, &old)?;
        }
        old.iter().for_each(|port| drop(ctx.state.remove(PORTS, text(port, "id"))));
        let mut sent =
            json!({ "network_id": network, "device_id": id, "device_owner": GATEWAY, "name": "" });
        if let Some(ips) = ips {
            sent["fixed_ips"] = json!(ips);
        }
        internal(ctx, &super::ports::PORT, sent, "")?
    };
    let info = json!({
        "network_id": network, "external_fixed_ips": port["fixed_ips"],
        "enable_snat": wanted["enable_snat"].as_bool().unwrap_or(true),
    });
    set(row, "external_gateway_info", info);
    Ok(())
}

fn without_floating(ctx: &RequestContext<'_>, router: &str, gateways: &[Obj]) -> Done {
    let Some(port) = gateways.first() else { return Ok(()) };
    if ctx.state.table(FLOATING).with("router_id", router).is_empty() {
        return Ok(());
    }
    let message = format!(
        "Gateway cannot be updated for router {router}, since a gateway to external network {} is required by one \
         or more floating IPs.",
        text(port, "network_id")
    );
    Err(refusal(409, "RouterExternalGatewayInUseByFloatingIp", message))
}

fn remove(ctx: &mut RequestContext<'_>, row: &Obj) -> Done {
    let id = text(row, "id");
    if !ports_of(ctx, id, INTERFACE).is_empty() {
        return Err(refusal(409, "RouterInUse", format!("Router {id} still has ports")));
    }
    let gateways = ports_of(ctx, id, GATEWAY);
    without_floating(ctx, id, &gateways)?;
    gateways.iter().for_each(|port| drop(ctx.state.remove(PORTS, text(port, "id"))));
    Ok(())
}

/// Handles the actions on a router.
pub(super) fn serve(ctx: &mut RequestContext<'_>, id: &str, action: &str) -> Option<Answer> {
    let act: fn(&mut RequestContext<'_>, Obj) -> Answer =
        match (ctx.request.method.as_str(), action) {
            ("PUT", "add_router_interface") => add_interface,
            ("PUT", "remove_router_interface") => remove_interface,
            ("PUT", "add_extraroutes") => add_routes,
            ("PUT", "remove_extraroutes") => remove_routes,
            ("PUT", "add_external_gateways" | "update_external_gateways") => add_gateways,
            ("PUT", "remove_external_gateways") => remove_gateways,
            _ => return None,
        };
    let router = match ctx.find(&ROUTER, id) {
        Ok(router) => router,
        Err(refusal) => return Some(Err(refusal)),
    };
    if !ctx.owns(&router) {
        return Some(Err(refusal(
            403,
            "PolicyNotAuthorized",
            format!("rule:{action} is disallowed by policy"),
        )));
    }
    Some(act(ctx, router))
}

fn bad(message: &str) -> Refusal {
    refusal(400, "BadRequest", format!("Bad router request: {message}."))
}

/// Adds the router to a subnet.
pub(super) fn join(ctx: &mut RequestContext<'_>, router: &Obj, subnet: &str) -> Done {
    let body = std::mem::replace(&mut ctx.body, json!({ "subnet_id": subnet }));
    let joined = add_interface(ctx, router.clone());
    ctx.body = body;
    joined.map(drop)
}

fn add_interface(ctx: &mut RequestContext<'_>, router: Obj) -> Answer {
    let id = text(&router, "id").to_owned();
    let (subnet, port) = (ctx.body["subnet_id"].as_str(), ctx.body["port_id"].as_str());
    let (subnet, port) = (subnet.map(str::to_owned), port.map(str::to_owned));
    let port = match (subnet, port) {
        (Some(_), Some(_)) => return Err(bad("Cannot specify both subnet-id and port-id")),
        (None, None) => return Err(bad("Either subnet_id or port_id must be specified")),
        (Some(subnet), None) => {
            let subnet = ctx.find(&super::subnets::SUBNET, &subnet)?;
            let gateway = text(&subnet, "gateway_ip");
            if gateway.is_empty() {
                return Err(bad("Subnet for router interface must have a gateway IP"));
            }
            apart(ctx, &id, &subnet)?;
            let sent = json!({
                "network_id": subnet["network_id"], "device_id": id, "device_owner": INTERFACE, "name": "",
                "fixed_ips": [{ "subnet_id": subnet["id"], "ip_address": gateway }],
            });
            internal(ctx, &super::ports::PORT, sent, text(&router, "project_id"))?
        }
        (None, Some(port)) => {
            let port = ctx.find(&super::ports::PORT, &port)?;
            if !text(&port, "device_id").is_empty() {
                let message = format!(
                    "Unable to complete operation on port {} for network {}. Port already has an attached device {}.",
                    text(&port, "id"),
                    text(&port, "network_id"),
                    text(&port, "device_id")
                );
                return Err(refusal(409, "PortInUse", message));
            }
            if list(&port, "fixed_ips").is_empty() {
                return Err(bad("Router port must have at least one fixed IP"));
            }
            for ip in list(&port, "fixed_ips") {
                let subnet = ctx.state.copy(SUBNETS, ip["subnet_id"].as_str().unwrap_or_default());
                apart(ctx, &id, &subnet)?;
            }
            let taken = json!({ "device_id": id, "device_owner": INTERFACE, "status": "ACTIVE" });
            ctx.state.set(PORTS, text(&port, "id"), taken);
            port
        }
    };
    ctx.state.set(PORTS, text(&port, "id"), json!({ "status": "ACTIVE" }));
    Ok(Reply::ok(interface(&router, &port)))
}

fn interface(router: &Obj, port: &Obj) -> Value {
    let ids: Vec<&Value> = list(port, "fixed_ips").iter().map(|ip| &ip["subnet_id"]).collect();
    json!({
        "id": router["id"], "tenant_id": router["project_id"], "project_id": router["project_id"],
        "port_id": port["id"], "network_id": port["network_id"],
        "subnet_id": ids.first(), "subnet_ids": ids, "tags": router["tags"],
    })
}

/// Rejects a subnet that overlaps another subnet of the router.
fn apart(ctx: &RequestContext<'_>, router: &str, subnet: &Obj) -> Done {
    let Some(block) = Block::read(text(subnet, "cidr")) else { return Ok(()) };
    for port in ports_of(ctx, router, INTERFACE) {
        for ip in list(&port, "fixed_ips") {
            let other = ctx.state.copy(SUBNETS, ip["subnet_id"].as_str().unwrap_or_default());
            if other.get("id") == subnet.get("id") {
                return Err(bad(&format!(
                    "Router already has a port on subnet {}",
                    text(subnet, "id")
                )));
            }
            if Block::read(text(&other, "cidr")).is_some_and(|other| other.overlaps(block)) {
                let message = format!(
                    "Cidr {} of subnet {} overlaps with cidr {} of subnet {}",
                    block.text(),
                    text(subnet, "id"),
                    text(&other, "cidr"),
                    text(&other, "id")
                );
                return Err(bad(&message));
            }
        }
    }
    Ok(())
}

fn remove_interface(ctx: &mut RequestContext<'_>, router: Obj) -> Answer {
    let id = text(&router, "id").to_owned();
    let subnet = ctx.body["subnet_id"].as_str().map(str::to_owned);
    let port = ctx.body["port_id"].as_str().map(str::to_owned);
    let ports = ports_of(ctx, &id, INTERFACE);
    let on = |port: &Obj, subnet: &str| {
        list(port, "fixed_ips").iter().any(|ip| ip["subnet_id"] == json!(subnet))
    };
    let found = match (&subnet, &port) {
        (None, None) => return Err(bad("Either subnet_id or port_id must be specified")),
        (_, Some(port)) => {
            ports.into_iter().find(|own| text(own, "id") == port).ok_or_else(|| {
                let message = format!("Router {id} does not have an interface with id {port}");
                refusal(404, "RouterInterfaceNotFound", message)
            })?
        }
        (Some(subnet), None) => {
            ctx.find(&super::subnets::SUBNET, subnet)?;
            ports.into_iter().find(|own| on(own, subnet)).ok_or_else(|| {
                let message = format!("Router {id} has no interface on subnet {subnet}");
                refusal(404, "RouterInterfaceNotFoundForSubnet", message)
            })?
        }
    };
    if let Some(subnet) = subnet.as_deref().filter(|subnet| !on(&found, subnet)) {
        let message = format!(
            "Subnet on port {} does not match the requested subnet {subnet}.",
            text(&found, "id")
        );
        return Err(refusal(400, "SubnetMismatchForPort", message));
    }
    for floating in ctx.state.with(FLOATING, "router_id", &id) {
        let inside = ctx.state.copy(PORTS, text(&floating, "port_id"));
        let fixed = &floating["fixed_ip_address"];
        let home = list(&inside, "fixed_ips").iter().find(|ip| ip["ip_address"] == *fixed);
        let home = home.and_then(|ip| ip["subnet_id"].as_str()).unwrap_or_default();
        if on(&found, home) {
            let message = format!(
                "Router interface for subnet {home} on router {id} cannot be deleted, as it is required by one or more \
                 floating IPs."
            );
            return Err(refusal(409, "RouterInterfaceInUseByFloatingIP", message));
        }
    }
    for route in list(&router, "routes") {
        let hop = route["nexthop"].as_str().and_then(number);
        for ip in list(&found, "fixed_ips") {
            let home = ctx.state.copy(SUBNETS, ip["subnet_id"].as_str().unwrap_or_default());
            if hop.zip(Block::read(text(&home, "cidr"))).is_some_and(|(hop, block)| block.has(hop))
            {
                let message = format!(
                    "Router interface for subnet {} on router {id} cannot be deleted, as it is required by one or more routes.",
                    text(&home, "id")
                );
                return Err(refusal(409, "RouterInterfaceInUseByRoute", message));
            }
        }
    }
    ctx.state.remove(PORTS, text(&found, "id"));
    Ok(Reply::ok(interface(&router, &found)))
}

fn valid_routes(ctx: &RequestContext<'_>, router: &Obj, routes: &Value) -> Done {
    let id = text(router, "id");
    let mut ports = ports_of(ctx, id, INTERFACE);
    ports.extend(ports_of(ctx, id, GATEWAY));
    let ips: Vec<&Value> = ports.iter().flat_map(|port| list(port, "fixed_ips")).collect();
    for route in routes.as_array().map_or(&[][..], Vec::as_slice) {
        let rendered = crate::python::repr(route);
        let destination = route["destination"].as_str().and_then(Block::read);
        let hop = route["nexthop"].as_str().and_then(|hop| Some((hop, number(hop)?)));
        let (Some(_), Some((hop, address))) = (destination, hop) else {
            return Err(bad_value("routes", &format!("{rendered} is not a valid route")));
        };
        let reached = ips.iter().any(|ip| {
            let subnet = ctx.state.get(SUBNETS, ip["subnet_id"].as_str().unwrap_or_default());
            let block = subnet.and_then(|subnet| Block::read(text(subnet, "cidr")));
            block.is_some_and(|block| block.has(address))
        });
        let reason = if !reached {
            "the nexthop is not connected with router"
        } else if ips.iter().any(|ip| ip["ip_address"] == json!(hop)) {
            "the nexthop is used by router"
        } else {
            continue;
        };
        return Err(refusal(
            400,
            "InvalidRoutes",
            format!("Invalid format for routes: {}, {reason}.", crate::python::repr(routes)),
        ));
    }
    Ok(())
}

/// Reports whether two routes have the same destination and next hop.
fn same(one: &Value, other: &Value) -> bool {
    one["destination"] == other["destination"] && one["nexthop"] == other["nexthop"]
}

fn requested_routes(ctx: &RequestContext<'_>) -> Result<Vec<Value>, Refusal> {
    let routes = ctx.body["router"]["routes"].as_array();
    routes.cloned().ok_or_else(|| invalid_input("routes is required"))
}

fn add_routes(ctx: &mut RequestContext<'_>, router: Obj) -> Answer {
    let mut routes = list(&router, "routes").to_vec();
    for route in requested_routes(ctx)? {
        if !routes.iter().any(|own| same(own, &route)) {
            routes.push(route);
        }
    }
    valid_routes(ctx, &router, &json!(routes))?;
    save_routes(ctx, &router, routes)
}

fn remove_routes(ctx: &mut RequestContext<'_>, router: Obj) -> Answer {
    let gone = requested_routes(ctx)?;
    let mut routes = list(&router, "routes").to_vec();
    routes.retain(|own| !gone.iter().any(|route| same(own, route)));
    save_routes(ctx, &router, routes)
}

fn save_routes(ctx: &mut RequestContext<'_>, router: &Obj, routes: Vec<Value>) -> Answer {
    let router =
        rest::update(ctx, &ROUTER, text(router, "id"), &object(json!({ "routes": routes })))?;
    Ok(Reply::ok(rest::envelope(&ROUTER, rest::render(ctx, &ROUTER, router))))
}

fn add_gateways(ctx: &mut RequestContext<'_>, router: Obj) -> Answer {
    let wanted = ctx.body["router"]["external_gateways"][0].clone();
    let sent = object(json!({ "external_gateway_info": wanted }));
    let router = rest::update(ctx, &ROUTER, text(&router, "id"), &sent)?;
    Ok(Reply::ok(rest::envelope(&ROUTER, rest::render(ctx, &ROUTER, router))))
}

fn remove_gateways(ctx: &mut RequestContext<'_>, router: Obj) -> Answer {
    let sent = object(json!({ "external_gateway_info": {} }));
    let router = rest::update(ctx, &ROUTER, text(&router, "id"), &sent)?;
    Ok(Reply::ok(rest::envelope(&ROUTER, rest::render(ctx, &ROUTER, router))))
}
