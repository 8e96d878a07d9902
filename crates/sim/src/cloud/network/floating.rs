//! Floating IP addresses and port forwardings.

use serde_json::{Value, json};

use super::super::request::{Done, RequestContext, flag, int, list, set, text};
use super::super::schema::Collection;
use super::super::table::Obj;
use super::dialect::{Neutron, invalid_input, refusal};
use super::{FLOATING, FORWARDS, NETWORKS, PORTS, internal};

pub(super) static FLOATING_IP: Collection = Collection {
    name: FLOATING,
    path: "floatingips",
    singular: "floatingip",
    plural: "floatingips",
    title: "FloatingIP",
    quota: Some(("floatingip", 50)),
    index: &["router_id"],
    fields: concat!(
        "floating_network_id ref:network/networks c !
         floating_ip_address ip   c  -
         subnet_id           ref:network/subnets c -
         port_id             ref:network/ports cu null
         fixed_ip_address    ip   cu null
         dns_name            text c  \"\"
         dns_domain          text c  \"\"
         qos_policy_id       ref:network/policies cu null
         qos_network_policy_id text r null
         distributed         bool cu -
         router_id           text r  null
         port_details        any  r  null
         port_forwardings    list r  []
         status              text r  \"DOWN\"",
        standard!()
    ),
    make,
    change: |ctx, old, new, sent| {
        if sent.contains_key("port_id") || sent.contains_key("fixed_ip_address") {
            if ctx.state.table(FORWARDS).count("floatingip_id", text(old, "id")) > 0 {
                let message = format!(
                    "Floating IP {} in use by Port Forwarding resources.",
                    text(old, "floating_ip_address")
                );
                return Err(refusal(409, "FloatingIPInUse", message));
            }
            if !sent.contains_key("fixed_ip_address") {
                set(new, "fixed_ip_address", Value::Null);
            }
            associate(ctx, new)?;
        }
        Ok(())
    },
    remove: |ctx, row| {
        for port in ctx.state.with(PORTS, "device_id", text(row, "id")) {
            ctx.state.remove(PORTS, text(&port, "id"));
        }
        for forward in ctx.state.with(FORWARDS, "floatingip_id", text(row, "id")) {
            ctx.state.remove(FORWARDS, text(&forward, "id"));
        }
        Ok(())
    },
    show: |ctx, row| {
        if let Some(port) = ctx.state.get(PORTS, text(row, "port_id")) {
            let details = json!({
                "name": port["name"], "network_id": port["network_id"], "mac_address": port["mac_address"],
                "admin_state_up": port["admin_state_up"], "status": port["status"],
                "device_id": port["device_id"], "device_owner": port["device_owner"],
            });
            set(row, "port_details", details);
        }
        let forwards = ctx.state.table(FORWARDS).with("floatingip_id", text(row, "id"));
        let rendered: Vec<Value> = forwards
            .into_iter()
            .map(|one| json!({
                "protocol": one["protocol"], "external_port": one["external_port"],
                "internal_ip_address": one["internal_ip_address"], "internal_port": one["internal_port"],
                "internal_port_id": one["internal_port_id"], "id": one["id"],
            }))
            .collect();
        set(row, "port_forwardings", rendered);
    },
    ..Collection::new(&Neutron)
};

pub(super) static FORWARD: Collection = Collection {
    name: FORWARDS,
    path: "floatingips/{floatingip_id}/port_forwardings",
    singular: "port_forwarding",
    plural: "port_forwardings",
    title: "PortForwarding",
    parent: Some(FLOATING),
    fields: "floatingip_id          text c  !
             internal_port_id       ref:network/ports cu !
             internal_ip_address    ip   cu null
             internal_port          int  cu null
             internal_port_range    text cu null
             external_port          int  cu null
             external_port_range    text cu null
             protocol               enum:tcp|udp|icmp|icmp6|sctp|dccp cu !
             description            text cu \"\"
             project_id             text c  @project",
    make: |ctx, row| {
        let taken = ctx.state.table(FORWARDS).with("floatingip_id", text(row, "floatingip_id"));
        let twin = taken.iter().any(|other| {
            other["external_port"] == row["external_port"] && other["protocol"] == row["protocol"]
        });
        if twin {
            let message = format!(
                "Bad port_forwarding request: A duplicate port forwarding entry with same attributes already exists, \
                 conflicting values are {{'floating_ip_address': '{}', 'external_port': {}}}.",
                text(&ctx.state.copy(FLOATING, text(row, "floatingip_id")), "floating_ip_address"),
                int(row, "external_port")
            );
            return Err(refusal(400, "BadRequest", message));
        }
        let floating = ctx.state.copy(FLOATING, text(row, "floatingip_id"));
        if !floating["port_id"].is_null() {
            let message = format!(
                "Cannot create port forwarding to floating IP {} ({}) with port {}, as the floating IP is associated.",
                text(&floating, "floating_ip_address"),
                text(&floating, "id"),
                text(row, "internal_port_id")
            );
            return Err(refusal(409, "FipInUseByPort", message));
        }
        inside(ctx, row)
    },
    change: |ctx, _, new, sent| {
        if sent.contains_key("internal_port_id") && !sent.contains_key("internal_ip_address") {
            set(new, "internal_ip_address", Value::Null);
        }
        inside(ctx, new)
    },
    show: |_, row| {
        row.remove("floatingip_id");
        row.remove("project_id");
    },
    ..Collection::new(&Neutron)
};

/// Completes the internal side of a port forwarding; the default is the first address of the port.
fn inside(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let port = ctx.state.copy(PORTS, text(row, "internal_port_id"));
    if row["internal_ip_address"].is_null() {
        let first = list(&port, "fixed_ips").first().map(|ip| ip["ip_address"].clone());
        set(row, "internal_ip_address", first.unwrap_or_default());
    }
    let ip = row["internal_ip_address"].clone();
    if !list(&port, "fixed_ips").iter().any(|own| own["ip_address"] == ip) {
        let message = format!(
            "Bad port_forwarding request: The internal IP does not correspond to an address on the internal port, \
             which has fixed-ips {}.",
            crate::python::repr(&json!(list(&port, "fixed_ips")))
        );
        return Err(refusal(400, "BadRequest", message));
    }
    let range = |row: &mut Obj, one: &str, many: &str| {
        if row[many].is_null() && !row[one].is_null() {
            let port = int(row, one);
            set(row, many, format!("{port}:{port}"));
        }
    };
    range(row, "internal_port", "internal_port_range");
    range(row, "external_port", "external_port_range");
    Ok(())
}

fn make(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let network = ctx.state.copy(NETWORKS, text(row, "floating_network_id"));
    if !flag(&network, "router:external") {
        let id = text(&network, "id");
        let message =
            format!("Bad floatingip request: Network {id} is not a valid external network.");
        return Err(refusal(400, "BadRequest", message));
    }
    let mut ip = json!({});
    if let Some(wanted) = row.get("floating_ip_address").filter(|wanted| wanted.is_string()) {
        ip["ip_address"] = wanted.clone();
    }
    if let Some(subnet) = row.get("subnet_id").filter(|subnet| subnet.is_string()) {
        ip["subnet_id"] = subnet.clone();
    }
    let mut sent = json!({
        "network_id": network["id"], "device_id": row["id"], "device_owner": "network:floatingip", "name": "",
    });
    if ip != json!({}) {
        sent["fixed_ips"] = json!([ip]);
    }
    let port = internal(ctx, &super::ports::PORT, sent, "").map_err(|failed| {
        match failed.error_type.as_str() {
            "IpAddressGenerationFailure" => {
                let message =
                    format!("No more IP addresses available on network {}.", text(&network, "id"));
                refusal(409, "IpAddressGenerationFailure", message)
            }
            _ => failed,
        }
    })?;
    let address = list(&port, "fixed_ips")
        .iter()
        .find(|ip| ip["ip_address"].as_str().is_some_and(|text| text.contains('.')));
    let Some(address) = address.map(|ip| ip["ip_address"].clone()) else {
        ctx.state.remove(PORTS, text(&port, "id"));
        let message =
            format!("Unable to find any IP address on external network {}.", text(&network, "id"));
        return Err(refusal(400, "ExternalIpAddressExhausted", message));
    };
    set(row, "floating_ip_address", address);
    row.remove("subnet_id");
    if let Err(refusal) = associate(ctx, row) {
        ctx.state.remove(PORTS, text(&port, "id"));
        return Err(refusal);
    }
    Ok(())
}

/// Associates the floating IP address with its port, or disassociates it.
fn associate(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let Some(port) = row["port_id"].as_str().map(|id| ctx.state.copy(PORTS, id)) else {
        if !row["fixed_ip_address"].is_null() {
            return Err(invalid_input("fixed_ip_address cannot be specified without a port_id"));
        }
        set(row, "router_id", Value::Null);
        set(row, "status", "DOWN");
        return Ok(());
    };
    let id = text(&port, "id").to_owned();
    let v4 = |ip: &&Value| ip["ip_address"].as_str().is_some_and(|text| text.contains('.'));
    let wanted = row["fixed_ip_address"].clone();
    let inside = match &wanted {
        Value::Null => list(&port, "fixed_ips").iter().find(v4),
        wanted => list(&port, "fixed_ips").iter().find(|ip| ip["ip_address"] == *wanted),
    };
    let Some(inside) = inside.cloned() else {
        let message = match wanted.as_str() {
            Some(ip) => format!("Bad floatingip request: Port {id} does not have fixed ip {ip}."),
            None => format!(
                "Bad floatingip request: Cannot add floating IP to port {id} that has no fixed IPv4 addresses."
            ),
        };
        return Err(refusal(400, "BadRequest", message));
    };
    let fixed = inside["ip_address"].clone();
    let others = ctx.state.with(FLOATING, "port_id", &id);
    let network = row["floating_network_id"].clone();
    let twin = others.iter().any(|other| {
        other["id"] != row["id"]
            && other["fixed_ip_address"] == fixed
            && other["floating_network_id"] == network
    });
    if twin {
        let message = format!(
            "Cannot associate floating IP {} ({}) with port {id} using fixed IP {}, as that fixed IP already has a \
             floating IP on external network {}.",
            text(row, "floating_ip_address"),
            text(row, "id"),
            fixed.as_str().unwrap_or_default(),
            network.as_str().unwrap_or_default()
        );
        return Err(refusal(409, "FloatingIPPortAlreadyAssociated", message));
    }
    let subnet = inside["subnet_id"].as_str().unwrap_or_default();
    let network = network.as_str().unwrap_or_default();
    let Some(router) = external_router(ctx, subnet, network) else {
        let message = format!(
            "External network {network} is not reachable from subnet {subnet}.  Therefore, cannot associate Port {id} \
             with a Floating IP."
        );
        return Err(refusal(404, "ExternalGatewayForFloatingIPNotFound", message));
    };
    set(row, "fixed_ip_address", fixed);
    set(row, "router_id", router);
    set(row, "status", "ACTIVE");
    Ok(())
}

/// Finds the router that connects the subnet with the external network.
fn external_router(ctx: &RequestContext<'_>, subnet: &str, network: &str) -> Option<String> {
    let inside = ctx.state.table(PORTS).with("fixed_ips.subnet_id", subnet);
    inside.iter().find_map(|port| {
        if text(port, "device_owner") != "network:router_interface" {
            return None;
        }
        let router = text(port, "device_id");
        let own = ctx.state.table(PORTS).with("device_id", router);
        let leads = own.iter().any(|port| {
            text(port, "device_owner") == "network:router_gateway"
                && text(port, "network_id") == network
        });
        leads.then(|| router.to_owned())
    })
}
