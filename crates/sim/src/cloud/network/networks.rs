//! Networks and how they are shared.

use serde_json::{Value, json};

use super::super::request::{Done, RequestContext, flag, set, text};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::dialect::{Neutron, invalid_input, refusal};
use super::{NETWORKS, PORTS, RBAC, SEGMENTS, SUBNETS};

pub(in super::super) static NETWORK: Collection = Collection {
    name: NETWORKS,
    path: "networks",
    singular: "network",
    plural: "networks",
    title: "Network",
    quota: Some(("network", 100)),
    fields: concat!(
        "name                      text cu  \"\"
         admin_state_up            bool cu  true
         shared                    bool cua false
         router:external           bool cua false
         is_default                bool cua false
         provider:network_type     text cua null
         provider:physical_network text cua null
         provider:segmentation_id  int  cua null
         segments                  list ca  -
         port_security_enabled     bool cu  true
         mtu                       int  cu  1450
         dns_domain                text cu  \"\"
         qos_policy_id             ref:network/policies cu null
         availability_zone_hints   list c   []
         availability_zones        list r   []
         vlan_transparent          any  c   null
         ipv4_address_scope        text r   null
         ipv6_address_scope        text r   null
         l2_adjacency              bool r   true
         status                    text r   \"ACTIVE\"
         subnets                   list r   []",
        standard!()
    ),
    is_shared: |ctx, row| {
        flag(row, "shared") || flag(row, "router:external") || is_granted(ctx, row)
    },
    make,
    change,
    remove,
    show,
    ..Collection::new(&Neutron)
};

/// Reports whether an RBAC policy lets the caller's project use the object.
pub(super) fn is_granted(ctx: &RequestContext<'_>, row: &Obj) -> bool {
    let policies = ctx.state.table(RBAC).with("object_id", text(row, "id"));
    policies.iter().any(|policy| {
        let target = text(policy, "target_tenant");
        target == "*" || target == ctx.caller.project
    })
}

fn make(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    if row.get("provider:network_type").is_none_or(Value::is_null) {
        set(row, "provider:network_type", "vxlan");
    }
    if text(row, "provider:network_type") != "flat" && row["provider:segmentation_id"].is_null() {
        let id = ctx.state.next_number();
        set(row, "provider:segmentation_id", id);
    }
    set(row, "availability_zones", json!(["nova"]));
    let segment = first_segment(ctx.state, row);
    ctx.state.add(SEGMENTS, segment);
    Ok(())
}

/// Creates the segment of a network, which has no name.
fn first_segment(state: &mut CloudState, network: &Obj) -> Obj {
    let id = state.uuid();
    let segment = json!({
        "id": id, "network_id": network["id"], "name": null, "description": null,
        "network_type": network["provider:network_type"],
        "physical_network": network["provider:physical_network"],
        "segmentation_id": network["provider:segmentation_id"],
        "revision_number": 1, "created_at": state.timestamp(), "updated_at": state.timestamp(),
    });
    super::super::request::object(segment)
}

fn change(ctx: &mut RequestContext<'_>, old: &Obj, new: &mut Obj, _sent: &Obj) -> Done {
    let id = text(old, "id");
    if flag(old, "router:external") && !flag(new, "router:external") {
        let used = ctx.state.table(PORTS).with("network_id", id);
        let used = used.iter().any(|port| text(port, "device_owner").starts_with("network:"));
        if used {
            let message = format!(
                "External network {id} cannot be updated to be made non-external, since it has existing gateway ports."
            );
            return Err(refusal(409, "ExternalNetworkInUse", message));
        }
    }
    move_segment(ctx, old, new)
}

/// Changes the segmentation id of a network, the only provider attribute that can change, and only with a single
/// segment.
fn move_segment(ctx: &mut RequestContext<'_>, old: &Obj, new: &Obj) -> Done {
    let differs = |name: &str| old.get(name) != new.get(name);
    let fixed = ["provider:network_type", "provider:physical_network"];
    let refused: Vec<&str> = fixed.into_iter().filter(|name| differs(name)).collect();
    if !refused.is_empty() {
        return Err(invalid_input(&format!(
            "Plugin does not support updating the following provider network attributes: {}",
            refused.join(", ")
        )));
    }
    if !differs("provider:segmentation_id") {
        return Ok(());
    }
    let segments = ctx.state.with(SEGMENTS, "network_id", text(old, "id"));
    let [segment] = &segments[..] else {
        return Err(invalid_input(
            "Provider network attributes can be updated only in provider networks with a single segment.",
        ));
    };
    let number = new["provider:segmentation_id"].clone();
    ctx.state.edit(SEGMENTS, text(segment, "id"), |row| set(row, "segmentation_id", number));
    Ok(())
}

fn remove(ctx: &mut RequestContext<'_>, row: &Obj) -> Done {
    let id = text(row, "id");
    let ports = ctx.state.with(PORTS, "network_id", id);
    if ports.iter().any(|port| text(port, "device_owner") != "network:dhcp") {
        let message = format!(
            "Unable to complete operation on network {id}. There are one or more ports still in use on the network."
        );
        return Err(refusal(409, "NetworkInUse", message));
    }
    for port in ports {
        ctx.state.remove(PORTS, text(&port, "id"));
    }
    for table in [SUBNETS, SEGMENTS] {
        for child in ctx.state.with(table, "network_id", id) {
            ctx.state.remove(table, text(&child, "id"));
        }
    }
    for policy in ctx.state.with(RBAC, "object_id", id) {
        ctx.state.remove(RBAC, text(&policy, "id"));
    }
    Ok(())
}

fn show(ctx: &RequestContext<'_>, row: &mut Obj) {
    let subnets = ctx.state.table(SUBNETS).with("network_id", text(row, "id"));
    let ids: Vec<&str> = subnets.iter().map(|subnet| text(subnet, "id")).collect();
    let ids = json!(ids);
    set(row, "subnets", ids);
    if is_granted(ctx, row) && !ctx.owns(row) {
        set(row, "shared", true);
    }
    if !ctx.caller.is_admin {
        row.retain(|name, _| !name.starts_with("provider:") && name != "segments");
    }
}
