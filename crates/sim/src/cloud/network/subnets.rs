//! Subnets: CIDR, gateway and allocation pools.

use serde_json::{Value, json};

use super::super::request::{Done, RequestContext, flag, int, list, set, text};
use super::super::schema::Collection;
use super::super::table::Obj;
use super::addresses::{Block, number, pools, written};
use super::dialect::{Neutron, bad_value, invalid_input, refusal};
use super::{NETWORKS, POOLS, PORTS, SUBNETS, networks};

pub(super) static SUBNET: Collection = Collection {
    name: SUBNETS,
    path: "subnets",
    singular: "subnet",
    plural: "subnets",
    title: "Subnet",
    quota: Some(("subnet", 100)),
    fields: concat!(
        "name                    text cu \"\"
         network_id              ref:network/networks c !
         ip_version              int  c  !
         cidr                    text c  null
         subnetpool_id           ref:network/subnetpools c null
         prefixlen               int  c  -
         use_default_subnetpool  bool c  -
         gateway_ip              ip   cu -
         allocation_pools        list cu -
         dns_nameservers         list cu []
         host_routes             list cu []
         enable_dhcp             bool cu true
         ipv6_ra_mode            enum:slaac|dhcpv6-stateful|dhcpv6-stateless c null
         ipv6_address_mode       enum:slaac|dhcpv6-stateful|dhcpv6-stateless c null
         segment_id              ref:network/segments cu null
         service_types           list cu []
         dns_publish_fixed_ip    bool cu false
         router:external         bool r  false",
        standard!()
    ),
    is_shared: |ctx, row| {
        let network = ctx.state.get(NETWORKS, text(row, "network_id"));
        network.is_some_and(|network| flag(network, "shared") || networks::is_granted(ctx, network))
    },
    make,
    change,
    remove,
    show: |ctx, row| {
        let network = ctx.state.get(NETWORKS, text(row, "network_id"));
        let external = network.is_some_and(|network| flag(network, "router:external"));
        set(row, "router:external", external);
        set(row, "dns_publish_fixed_ip", flag(row, "dns_publish_fixed_ip"));
    },
    ..Collection::new(&Neutron)
};

fn make(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let version = int(row, "ip_version");
    if version != 4 && version != 6 {
        return Err(bad_value("ip_version", &format!("{version} is not in [4, 6]")));
    }
    let network = ctx.state.copy(NETWORKS, text(row, "network_id"));
    if !ctx.owns(&network) {
        return Err(refusal(
            403,
            "PolicyNotAuthorized",
            "(rule:create_subnet) is disallowed by policy",
        ));
    }
    set(row, "project_id", text(&network, "project_id"));
    let block = match text(row, "cidr") {
        "" => from_pool(ctx, row)?,
        cidr => Block::read(cidr)
            .ok_or_else(|| bad_value("cidr", &format!("'{cidr}' is not a valid IP subnet")))?,
    };
    if block.is_v4 != (version == 4) {
        let text = block.text();
        return Err(invalid_input(&format!(
            "cidr '{text}' does not match the ip_version '{version}'"
        )));
    }
    row.remove("prefixlen");
    row.remove("use_default_subnetpool");
    set(row, "cidr", block.text());
    free_of_others(ctx, row, block)?;
    gateway(row, block)?;
    if !row.contains_key("allocation_pools") {
        let gateway = number(text(row, "gateway_ip")).map(|(_, number)| number);
        set(row, "allocation_pools", block.pools(gateway));
    }
    check_pools(row, block)?;
    if version == 4 && (!row["ipv6_ra_mode"].is_null() || !row["ipv6_address_mode"].is_null()) {
        return Err(invalid_input(
            "ipv6_ra_mode or ipv6_address_mode cannot be set when ip_version is 4",
        ));
    }
    Ok(())
}

/// Allocates an unused block from a subnet pool.
fn from_pool(
    ctx: &RequestContext<'_>,
    row: &mut Obj,
) -> Result<Block, super::super::request::Refusal> {
    if flag(row, "use_default_subnetpool") {
        let wanted = int(row, "ip_version");
        let default = ctx
            .state
            .table(POOLS)
            .iter()
            .find(|pool| flag(pool, "is_default") && int(pool, "ip_version") == wanted);
        let id = default.map(|pool| text(pool, "id").to_owned());
        let Some(id) = id else {
            return Err(refusal(404, "SubnetPoolNotFound", "No default subnetpool found."));
        };
        set(row, "subnetpool_id", id);
    }
    let pool = ctx.state.copy(POOLS, text(row, "subnetpool_id"));
    if pool.is_empty() {
        return Err(refusal(
            400,
            "BadRequest",
            "Bad subnets request: a subnetpool must be specified in the absence of a cidr.",
        ));
    }
    let length = match row.get("prefixlen").and_then(Value::as_u64) {
        Some(length) => u32::try_from(length).unwrap_or(u32::MAX),
        None => u32::try_from(int(&pool, "default_prefixlen")).unwrap_or_default(),
    };
    let (min, max) = (int(&pool, "min_prefixlen"), int(&pool, "max_prefixlen"));
    if i64::from(length) < min {
        let message = format!(
            "Unable to allocate subnet with prefix length {length}, minimum allowed prefix is {min}."
        );
        return Err(refusal(400, "MinPrefixSubnetAllocationError", message));
    }
    if i64::from(length) > max {
        let message = format!(
            "Unable to allocate subnet with prefix length {length}, maximum allowed prefix is {max}."
        );
        return Err(refusal(400, "MaxPrefixSubnetAllocationError", message));
    }
    let taken: Vec<Block> = ctx
        .state
        .table(SUBNETS)
        .with("subnetpool_id", text(&pool, "id"))
        .iter()
        .filter_map(|subnet| Block::read(text(subnet, "cidr")))
        .collect();
    for prefix in list(&pool, "prefixes").iter().filter_map(Value::as_str).filter_map(Block::read) {
        let mut part = Block { length, ..prefix };
        // Each step skips at least one existing subnet, so the loop ends.
        while part.length >= prefix.length && part.last() <= prefix.last() {
            match taken.iter().find(|other| other.overlaps(part)) {
                None => return Ok(part),
                Some(other) => {
                    let Some(next) = other.last().checked_add(1) else { break };
                    let size = part.size();
                    part.first = next.div_ceil(size).saturating_mul(size);
                }
            }
        }
    }
    let reason = "Insufficient prefix space to allocate subnet size /";
    Err(refusal(
        400,
        "SubnetAllocationError",
        format!("Failed to allocate subnet: {reason}{length}."),
    ))
}

fn free_of_others(ctx: &RequestContext<'_>, row: &Obj, block: Block) -> Done {
    let network = text(row, "network_id");
    for other in ctx.state.table(SUBNETS).with("network_id", network) {
        if Block::read(text(other, "cidr")).is_some_and(|other| other.overlaps(block)) {
            return Err(invalid_input(&format!(
                "Requested subnet with cidr: {} for network: {network} overlaps with another subnet",
                block.text()
            )));
        }
    }
    Ok(())
}

fn gateway(row: &mut Obj, block: Block) -> Done {
    match row.get("gateway_ip") {
        None => {
            let first = written(block.is_v4, block.usable().0);
            // A point-to-point network has no room for a gateway.
            let gateway = if block.size() <= 2 { Value::Null } else { json!(first) };
            set(row, "gateway_ip", gateway);
        }
        Some(Value::String(ip)) => {
            let inside = number(ip).is_some_and(|ip| block.has(ip));
            let special = number(ip).is_some_and(|(_, ip)| {
                block.is_v4 && block.size() > 2 && (ip == block.first || ip == block.last())
            });
            if !inside || special {
                return Err(invalid_input("Gateway is not valid on subnet"));
            }
        }
        Some(_) => {}
    }
    Ok(())
}

fn check_pools(row: &Obj, block: Block) -> Done {
    let ranges = pools(row);
    if ranges.len() != list(row, "allocation_pools").len() {
        let rendered = crate::python::repr(&row["allocation_pools"]);
        return Err(bad_value(
            "allocation_pools",
            &format!("{rendered} is not a valid list of pools"),
        ));
    }
    let name = |(start, end): &(u128, u128)| {
        format!("{}-{}", written(block.is_v4, *start), written(block.is_v4, *end))
    };
    for pool in &ranges {
        if pool.0 > pool.1 {
            let message = format!("The allocation pool {} is not valid.", name(pool));
            return Err(refusal(400, "InvalidAllocationPool", message));
        }
        let (first, last) = block.usable();
        if pool.0 < first || pool.1 > last {
            let message = format!(
                "The allocation pool {} spans beyond the subnet cidr {}.",
                name(pool),
                block.text()
            );
            return Err(refusal(400, "OutOfBoundsAllocationPool", message));
        }
    }
    let mut sorted = ranges.clone();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        if pair[1].0 <= pair[0].1 {
            let message = format!(
                "Found overlapping allocation pools: {} {} for subnet {}.",
                name(&pair[0]),
                name(&pair[1]),
                block.text()
            );
            return Err(refusal(409, "OverlappingAllocationPools", message));
        }
    }
    if let Some((_, gateway)) = number(text(row, "gateway_ip"))
        && let Some(pool) = ranges.iter().find(|pool| (pool.0..=pool.1).contains(&gateway))
    {
        let message = format!(
            "Gateway ip {} conflicts with allocation pool {}.",
            text(row, "gateway_ip"),
            name(pool)
        );
        return Err(refusal(409, "GatewayConflictWithAllocationPools", message));
    }
    Ok(())
}

fn change(_turn: &mut RequestContext<'_>, old: &Obj, new: &mut Obj, sent: &Obj) -> Done {
    let Some(block) = Block::read(text(new, "cidr")) else { return Ok(()) };
    if sent.contains_key("gateway_ip") {
        gateway(new, block)?;
    }
    if sent.contains_key("segment_id")
        && !old["segment_id"].is_null()
        && old["segment_id"] != new["segment_id"]
    {
        return Err(refusal(
            400,
            "NoUpdateSubnetWhenMultipleSegmentsOnNetwork",
            "The segment of a subnet cannot be changed.",
        ));
    }
    check_pools(new, block)
}

fn remove(ctx: &mut RequestContext<'_>, row: &Obj) -> Done {
    let id = text(row, "id");
    let ports = ctx.state.with(PORTS, "fixed_ips.subnet_id", id);
    let own = ["network:dhcp", "network:distributed"];
    if ports.iter().any(|port| !own.contains(&text(port, "device_owner"))) {
        let message = format!(
            "Unable to complete operation on subnet {id}: One or more ports have an IP allocation from this subnet."
        );
        return Err(refusal(409, "SubnetInUse", message));
    }
    for port in ports {
        ctx.state.remove(PORTS, text(&port, "id"));
    }
    Ok(())
}
