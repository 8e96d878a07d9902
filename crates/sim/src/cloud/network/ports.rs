//! Ports: the attachment of a device to a network, with its addresses and security groups.

use serde_json::{Value, json};

use super::super::check::is_uuid;
use super::super::request::{Done, Refusal, RequestContext, flag, list, set, strings, text};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::addresses::{Block, anywhere, is_taken, number, on_subnet};
use super::dialect::{Neutron, bad_value, invalid_input, refusal};
use super::{FLOATING, GROUPS, NETWORKS, PORTS, SUBNETS, TRUNKS, groups};

pub(in super::super) static PORT: Collection = Collection {
    name: PORTS,
    path: "ports",
    singular: "port",
    plural: "ports",
    title: "Port",
    quota: Some(("port", 500)),
    index: &[
        "device_id",
        "mac_address",
        "fixed_ips.ip_address",
        "fixed_ips.subnet_id",
        "security_groups",
    ],
    fields: concat!(
        "name                    text cu \"\"
         network_id              ref:network/networks c !
         admin_state_up          bool cu true
         mac_address             mac  cu -
         fixed_ips               any  cu -
         device_id               text cu \"\"
         device_owner            text cu \"\"
         security_groups         list cu -
         allowed_address_pairs   list cu []
         port_security_enabled   bool cu -
         extra_dhcp_opts         list cu []
         dns_name                text cu \"\"
         dns_domain              text cu \"\"
         dns_assignment          list r  []
         qos_policy_id           ref:network/policies cu null
         qos_network_policy_id   text r  null
         binding:vnic_type       text cu \"normal\"
         binding:host_id         text cua \"\"
         binding:profile         map  cua {}
         binding:vif_type        text r  \"unbound\"
         binding:vif_details     map  r  {}
         propagate_uplink_status bool cu true
         mac_learning_enabled    bool cu -
         numa_affinity_policy    text cu null
         device_profile          text c  null
         data_plane_status       text u  null
         hints                   any  cu null
         ip_allocation           text r  \"immediate\"
         resource_request        any  r  null
         trunk_details           any  r  -
         status                  text r  \"DOWN\"",
        standard!()
    ),
    is_shared: |ctx, row| {
        // The owner of a network can see every port on it.
        let network = ctx.state.get(NETWORKS, text(row, "network_id"));
        network.is_some_and(|network| ctx.owns(network))
    },
    make,
    change,
    remove,
    show,
    ..Collection::new(&Neutron)
};

fn make(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let network = ctx.state.copy(NETWORKS, text(row, "network_id"));
    let id = text(&network, "id").to_owned();
    match text(row, "mac_address") {
        "" => {
            let mac = new_mac(ctx.state);
            set(row, "mac_address", mac);
        }
        mac => mac_is_free(ctx.state, &id, mac, "")?,
    }
    let mac = text(row, "mac_address").to_owned();
    let ips = match row.get("fixed_ips") {
        Some(Value::Array(wanted)) => {
            let wanted = wanted.clone();
            addresses(ctx.state, &id, &wanted, &mac, &[])?
        }
        _ => anywhere(ctx.state, &id, &mac)?,
    };
    set(row, "fixed_ips", ips);
    if !row.contains_key("port_security_enabled") {
        set(row, "port_security_enabled", flag(&network, "port_security_enabled"));
    }
    security_groups(ctx, row)?;
    pairs(row)?;
    set(row, "qos_network_policy_id", network.get("qos_policy_id").cloned().unwrap_or_default());
    bind(row);
    Ok(())
}

/// Draws an unused MAC address.
fn new_mac(state: &mut CloudState) -> String {
    loop {
        let drawn = state.random.next().to_be_bytes();
        let mac = format!("fa:16:3e:{:02x}:{:02x}:{:02x}", drawn[0], drawn[1], drawn[2]);
        if state.table(PORTS).count("mac_address", &mac) == 0 {
            return mac;
        }
    }
}

fn mac_is_free(state: &CloudState, network: &str, mac: &str, own: &str) -> Done {
    let others = state.table(PORTS).with("mac_address", mac);
    if others.iter().any(|port| text(port, "network_id") == network && text(port, "id") != own) {
        let message = format!(
            "Unable to complete operation for network {network}. The mac address {mac} is in use."
        );
        return Err(refusal(409, "MacAddressInUse", message));
    }
    Ok(())
}

/// Resolves the requested addresses. An address that the port already has stays assigned to it.
fn addresses(
    state: &mut CloudState,
    network: &str,
    wanted: &[Value],
    mac: &str,
    own: &[Value],
) -> Result<Vec<Value>, Refusal> {
    let mut ips: Vec<Value> = Vec::new();
    for wanted in wanted {
        let (subnet, ip) = (wanted["subnet_id"].as_str(), wanted["ip_address"].as_str());
        let ip = match (subnet, ip) {
            (None, None) => {
                return Err(invalid_input("IP allocation requires subnet_id or ip_address"));
            }
            (subnet, Some(ip)) => named_address(state, network, subnet, ip, own)?,
            (Some(subnet), None) => {
                let kept = own
                    .iter()
                    .find(|kept| kept["subnet_id"] == json!(subnet) && !ips.contains(kept));
                let subnet = subnet_of(state, network, subnet)?;
                match kept {
                    Some(kept) => kept.clone(),
                    None => on_subnet(state, &subnet, mac)?,
                }
            }
        };
        if ips.contains(&ip) {
            let message =
                format!("Duplicate IP address '{}'", ip["ip_address"].as_str().unwrap_or_default());
            return Err(bad_value("fixed_ips", &message));
        }
        ips.push(ip);
    }
    Ok(ips)
}

fn subnet_of(state: &CloudState, network: &str, id: &str) -> Result<Obj, Refusal> {
    let subnet = state.copy(SUBNETS, id);
    if subnet.is_empty() {
        return Err(refusal(404, "SubnetNotFound", format!("Subnet {id} could not be found.")));
    }
    if text(&subnet, "network_id") != network {
        return Err(invalid_input(&format!(
            "Failed to create port on network {network}, because fixed_ips included invalid subnet {id}"
        )));
    }
    Ok(subnet)
}

fn named_address(
    state: &CloudState,
    network: &str,
    subnet: Option<&str>,
    ip: &str,
    own: &[Value],
) -> Result<Value, Refusal> {
    let Some(address) = number(ip) else {
        return Err(bad_value("fixed_ips", &format!("'{ip}' is not a valid IP address")));
    };
    let holds =
        |subnet: &Obj| Block::read(text(subnet, "cidr")).is_some_and(|block| block.has(address));
    let subnet = match subnet {
        Some(id) => {
            let subnet = subnet_of(state, network, id)?;
            if !holds(&subnet) {
                let message =
                    format!("IP address {ip} is not a valid IP for the specified subnet.");
                return Err(refusal(400, "InvalidIpForSubnet", message));
            }
            subnet
        }
        None => {
            let found = state
                .table(SUBNETS)
                .with("network_id", network)
                .into_iter()
                .find(|subnet| holds(subnet))
                .cloned();
            found.ok_or_else(|| {
                let message = format!(
                    "IP address {ip} is not a valid IP for any of the subnets on the specified network."
                );
                refusal(400, "InvalidIpForNetwork", message)
            })?
        }
    };
    let ip = super::addresses::written(address.0, address.1);
    let entry = json!({ "subnet_id": subnet["id"], "ip_address": ip });
    if !own.contains(&entry) && is_taken(state, &subnet, &ip) {
        let message =
            format!("IP address {ip} already allocated in subnet {}", text(&subnet, "id"));
        return Err(refusal(409, "IpAddressAlreadyAllocated", message));
    }
    Ok(entry)
}

/// Resolves the requested security groups; the default is the default group of the project.
fn security_groups(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let secured = flag(row, "port_security_enabled");
    let owner = text(row, "device_owner");
    let trusted = owner.starts_with("network:");
    match row.get("security_groups") {
        None if secured && !trusted => {
            let project = text(row, "project_id").to_owned();
            let default = groups::default_of(ctx.state, &project);
            set(row, "security_groups", json!([default]));
        }
        None => set(row, "security_groups", json!([])),
        Some(_) => {
            let wanted = strings(row, "security_groups");
            if !secured && !wanted.is_empty() {
                let message = "Port security must be enabled and port must have an IP address in order to use \
                               security groups.";
                return Err(refusal(409, "PortSecurityAndIPRequiredForSecurityGroups", message));
            }
            for id in wanted {
                if !is_uuid(&id) {
                    return Err(bad_value(
                        "security_groups",
                        &format!("'{id}' is not an integer or uuid"),
                    ));
                }
                let group = ctx.state.get(GROUPS, &id);
                if !group
                    .is_some_and(|group| ctx.owns(group) || super::networks::is_granted(ctx, group))
                {
                    let message = format!("Security group {id} does not exist");
                    return Err(refusal(404, "SecurityGroupNotFound", message));
                }
            }
        }
    }
    Ok(())
}

fn pairs(row: &mut Obj) -> Done {
    let mac = text(row, "mac_address").to_owned();
    let mut pairs = list(row, "allowed_address_pairs").to_vec();
    for pair in &mut pairs {
        if pair["ip_address"].as_str().is_none() {
            return Err(bad_value(
                "allowed_address_pairs",
                "AllowedAddressPair must contain ip_address",
            ));
        }
        if pair["mac_address"].is_null() {
            pair["mac_address"] = json!(mac);
        }
    }
    if !pairs.is_empty() && !flag(row, "port_security_enabled") {
        let message =
            "Port Security must be enabled in order to have allowed address pairs on a port.";
        return Err(refusal(409, "AddressPairAndPortSecurityRequired", message));
    }
    set(row, "allowed_address_pairs", pairs);
    Ok(())
}

/// Binds a port that has a host.
fn bind(row: &mut Obj) {
    if text(row, "binding:host_id").is_empty() {
        set(row, "binding:vif_type", "unbound");
        set(row, "binding:vif_details", json!({}));
        if !text(row, "device_owner").starts_with("network:") {
            set(row, "status", "DOWN");
        }
    } else {
        set(row, "binding:vif_type", "ovs");
        set(row, "binding:vif_details", json!({ "port_filter": true, "connectivity": "l2" }));
        set(row, "status", if flag(row, "admin_state_up") { "ACTIVE" } else { "DOWN" });
    }
}

/// Rejects the removal of an address that a floating IP address uses.
fn keeps_floating(state: &CloudState, port: &str, wanted: &Value) -> Done {
    let floating = state.with(FLOATING, "port_id", port);
    let Some(inside) = floating.first().map(|row| &row["fixed_ip_address"]) else { return Ok(()) };
    let mut wanted = wanted.as_array().into_iter().flatten();
    if wanted.any(|it| it["ip_address"] == *inside) {
        return Ok(());
    }
    let message = format!(
        "Bad port request: Cannot update the fixed_ips of the port {port}, because its original fixed_ip has been \
         associated to a floating ip"
    );
    Err(refusal(400, "BadRequest", message))
}

fn change(ctx: &mut RequestContext<'_>, old: &Obj, new: &mut Obj, sent: &Obj) -> Done {
    let (id, network) = (text(old, "id").to_owned(), text(old, "network_id").to_owned());
    if sent.contains_key("mac_address") {
        mac_is_free(ctx.state, &network, text(new, "mac_address"), &id)?;
    }
    if let Some(wanted) = sent.get("fixed_ips") {
        keeps_floating(ctx.state, &id, wanted)?;
    }
    if let Some(Value::Array(wanted)) = sent.get("fixed_ips") {
        let mac = text(new, "mac_address").to_owned();
        let own = list(old, "fixed_ips").to_vec();
        let ips = addresses(ctx.state, &network, wanted, &mac, &own)?;
        set(new, "fixed_ips", ips);
    } else if sent.contains_key("fixed_ips") {
        set(new, "fixed_ips", json!([]));
    }
    if sent.get("security_groups").is_some_and(Value::is_null) {
        new.remove("security_groups");
    }
    if sent.contains_key("security_groups") || sent.contains_key("port_security_enabled") {
        security_groups(ctx, new)?;
    }
    pairs(new)?;
    let bound = ["binding:host_id", "device_owner", "admin_state_up"];
    if bound.iter().any(|name| sent.contains_key(*name)) {
        bind(new);
    }
    Ok(())
}

fn remove(ctx: &mut RequestContext<'_>, row: &Obj) -> Done {
    let (id, owner) = (text(row, "id"), text(row, "device_owner"));
    let guarded = [
        "network:router_interface",
        "network:router_gateway",
        "network:floatingip",
        "network:router_interface_distributed",
        "network:ha_router_replicated_interface",
    ];
    if guarded.contains(&owner) {
        let message = format!(
            "Port {id} cannot be deleted directly via the port API: has device owner {owner}."
        );
        return Err(refusal(409, "ServicePortInUse", message));
    }
    if let Some(trunk) = ctx.state.table(TRUNKS).with("port_id", id).first() {
        let message =
            format!("Port {id} is currently a parent port for trunk {}.", text(trunk, "id"));
        return Err(refusal(409, "PortInUseAsTrunkParent", message));
    }
    if let Some(trunk) = ctx.state.table(TRUNKS).with("sub_ports.port_id", id).first() {
        let message = format!("Port {id} is currently a subport for trunk {}.", text(trunk, "id"));
        return Err(refusal(409, "PortInUseAsSubPort", message));
    }
    release_floating(ctx.state, id);
    Ok(())
}

/// Disassociates the floating IP addresses of a port that is deleted.
pub(in super::super) fn release_floating(state: &mut CloudState, port: &str) {
    for floating in state.with(FLOATING, "port_id", port) {
        let gone = json!({ "port_id": null, "fixed_ip_address": null, "router_id": null, "status": "DOWN" });
        state.set(FLOATING, text(&floating, "id"), gone);
    }
}

fn show(ctx: &RequestContext<'_>, row: &mut Obj) {
    let name = text(row, "dns_name").to_owned();
    let assigned: Vec<Value> = list(row, "fixed_ips")
        .iter()
        .map(|ip| {
            let address = ip["ip_address"].as_str().unwrap_or_default();
            let host = match name.as_str() {
                "" => format!("host-{}", address.replace(['.', ':'], "-")),
                name => name.to_owned(),
            };
            json!({ "ip_address": address, "hostname": host, "fqdn": format!("{host}.openstacklocal.") })
        })
        .collect();
    set(row, "dns_assignment", assigned);
    if let Some(trunk) = ctx.state.table(TRUNKS).with("port_id", text(row, "id")).first() {
        let details =
            json!({ "trunk_id": text(trunk, "id"), "sub_ports": list(trunk, "sub_ports") });
        set(row, "trunk_details", details);
    }
    if !ctx.caller.is_admin {
        let hidden = [
            "binding:host_id",
            "binding:profile",
            "binding:vif_type",
            "binding:vif_details",
            "resource_request",
            "hints",
        ];
        row.retain(|name, _| !hidden.contains(&name.as_str()));
    }
}
