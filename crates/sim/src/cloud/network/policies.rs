//! Subnet pools, segments, trunks and RBAC policies.

use serde_json::{Value, json};

use super::super::request::{Done, RequestContext, flag, int, list, set, text};
use super::super::schema::Collection;
use super::super::table::Obj;
use super::addresses::Block;
use super::dialect::{Neutron, bad_value, invalid_input, refusal};
use super::{GROUPS, NETWORKS, POOLS, PORTS, RBAC, SEGMENTS, SUBNETS, TRUNKS, networks};

pub(super) static POOL: Collection = Collection {
    name: POOLS,
    path: "subnetpools",
    singular: "subnetpool",
    plural: "subnetpools",
    title: "SubnetPool",
    fields: concat!(
        "name              text cu !
         prefixes          list cu !
         default_quota     int  cu null
         default_prefixlen int  cu -
         min_prefixlen     int  cu -
         max_prefixlen     int  cu -
         address_scope_id  ref:network/address_scopes cu null
         shared            bool ca false
         is_default        bool cua false
         ip_version        int  r 4",
        standard!()
    ),
    is_shared: |ctx, row| flag(row, "shared") || networks::is_granted(ctx, row),
    make: pool,
    change: |_, old, new, _| {
        let kept = list(old, "prefixes").iter().all(|prefix| {
            list(new, "prefixes").iter().any(|own| {
                let block = |value: &Value| value.as_str().and_then(Block::read);
                block(own)
                    .zip(block(prefix))
                    .is_some_and(|(own, old)| own.first <= old.first && own.last() >= old.last())
            })
        });
        if !kept {
            return Err(refusal(
                400,
                "IllegalSubnetPoolPrefixUpdate",
                "Illegal update to prefixes: the new list must hold the old prefixes.",
            ));
        }
        Ok(())
    },
    remove: |ctx, row| {
        let id = text(row, "id");
        if ctx.state.table(SUBNETS).count("subnetpool_id", id) > 0 {
            let message = format!(
                "Unable to complete operation on subnet pool {id}. Subnet pool has existing allocations."
            );
            return Err(refusal(400, "SubnetPoolDeleteError", message));
        }
        Ok(())
    },
    ..Collection::new(&Neutron)
};

fn pool(_: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let blocks: Option<Vec<Block>> =
        list(row, "prefixes").iter().map(|prefix| prefix.as_str().and_then(Block::read)).collect();
    let Some(first) = blocks.as_ref().and_then(|blocks| blocks.first().copied()) else {
        return Err(refusal(400, "EmptySubnetPoolPrefixList", "Empty subnet pool prefix list."));
    };
    if blocks.iter().flatten().any(|block| block.is_v4 != first.is_v4) {
        let message = "Cannot mix IPv4 and IPv6 prefixes in a subnet pool.";
        return Err(refusal(400, "PrefixVersionMismatch", message));
    }
    let (version, shortest, longest) = if first.is_v4 { (4, 8, 32) } else { (6, 64, 128) };
    set(row, "ip_version", version);
    for (name, usual) in [("min_prefixlen", shortest), ("max_prefixlen", longest)] {
        if row.get(name).is_none_or(Value::is_null) {
            set(row, name, usual);
        }
    }
    if row.get("default_prefixlen").is_none_or(Value::is_null) {
        let min = int(row, "min_prefixlen");
        set(row, "default_prefixlen", min);
    }
    if int(row, "min_prefixlen") > int(row, "max_prefixlen") {
        let message = "Illegal prefix bounds: min_prefixlen cannot be greater than max_prefixlen.";
        return Err(refusal(400, "IllegalSubnetPoolPrefixBounds", message));
    }
    Ok(())
}

pub(super) static RBAC_POLICY: Collection = Collection {
    name: RBAC,
    path: "rbac-policies",
    singular: "rbac_policy",
    plural: "rbac_policies",
    title: "RbacPolicy",
    quota: Some(("rbac_policy", 10)),
    index: &["object_id"],
    fields: "object_type   enum:network|qos_policy|security_group|address_scope|subnetpool|address_group|bgpvpn c !
             object_id     uuid c !
             target_tenant text cu !
             action        enum:access_as_shared|access_as_external c !
             project_id    text c @project",
    make: |ctx, row| {
        let table = match text(row, "object_type") {
            "network" => NETWORKS,
            "qos_policy" => super::POLICIES,
            "security_group" => GROUPS,
            "address_scope" => "network/address_scopes",
            "subnetpool" => POOLS,
            _ => "",
        };
        let id = text(row, "object_id");
        let target = ctx.state.get(table, id);
        if !target.is_some_and(|target| ctx.owns(target)) {
            return Err(refusal(404, "ObjectNotFound", format!("Object {id} not found.")));
        }
        let twin = ctx.state.table(RBAC).with("object_id", id).iter().any(|other| {
            other["target_tenant"] == row["target_tenant"] && other["action"] == row["action"]
        });
        if twin {
            let message = "An RBAC policy already exists with those values.";
            return Err(refusal(409, "DuplicateRbacPolicy", message));
        }
        if text(row, "action") == "access_as_external" {
            ctx.state.set(NETWORKS, text(row, "object_id"), json!({ "router:external": true }));
        }
        Ok(())
    },
    ..Collection::new(&Neutron)
};

pub(super) static SEGMENT: Collection = Collection {
    name: SEGMENTS,
    path: "segments",
    singular: "segment",
    plural: "segments",
    title: "Segment",
    admin_only: true,
    fields: "name             text cu null
             network_id       ref:network/networks c !
             network_type     enum:flat|geneve|gre|local|vlan|vxlan c !
             physical_network text c  null
             segmentation_id  int  c  null
             description      text cu null
             revision_number  int  r  1
             created_at       text r  @now
             updated_at       text r  @now",
    make: |ctx, row| {
        if row["segmentation_id"].is_null()
            && !["flat", "local"].contains(&text(row, "network_type"))
        {
            let id = ctx.state.next_number();
            set(row, "segmentation_id", id);
        }
        Ok(())
    },
    remove: |ctx, row| {
        let id = text(row, "id");
        if ctx.state.table(SUBNETS).count("segment_id", id) > 0 {
            let message = format!(
                "Segment '{id}' cannot be deleted: The segment is still associated with subnet(s)."
            );
            return Err(refusal(409, "SegmentInUse", message));
        }
        Ok(())
    },
    ..Collection::new(&Neutron)
};

pub(super) static TRUNK: Collection = Collection {
    name: TRUNKS,
    path: "trunks",
    singular: "trunk",
    plural: "trunks",
    title: "Trunk",
    quota: Some(("trunk", -1)),
    index: &["sub_ports.port_id"],
    fields: concat!(
        "name           text cu \"\"
         port_id        ref:network/ports c !
         admin_state_up bool cu true
         sub_ports      list c  []
         status         text r  \"ACTIVE\"",
        standard!()
    ),
    make: |ctx, row| {
        let id = text(row, "port_id").to_owned();
        if ctx.state.table(TRUNKS).count("port_id", &id)
            + ctx.state.table(TRUNKS).count("sub_ports.port_id", &id)
            > 0
        {
            let message = format!("Port {id} is in use by another trunk.");
            return Err(refusal(409, "TrunkPortInUse", message));
        }
        let wanted = list(row, "sub_ports").to_vec();
        set(row, "sub_ports", json!([]));
        add_subports(ctx, row, &wanted)
    },
    remove: |ctx, row| {
        let port = ctx.state.copy(PORTS, text(row, "port_id"));
        if !text(&port, "binding:host_id").is_empty() {
            let message = format!("Trunk {} is currently in use.", text(row, "id"));
            return Err(refusal(409, "TrunkInUse", message));
        }
        Ok(())
    },
    ..Collection::new(&Neutron)
};

/// Adds ports to a trunk; a port can be in one trunk only.
pub(super) fn add_subports(
    ctx: &mut RequestContext<'_>,
    trunk: &mut Obj,
    wanted: &[Value],
) -> Done {
    let mut ports = list(trunk, "sub_ports").to_vec();
    for wanted in wanted {
        let Some(id) = wanted["port_id"].as_str() else {
            return Err(bad_value("sub_ports", "'port_id' is required"));
        };
        ctx.find(&super::ports::PORT, id)?;
        let used = ctx.state.table(TRUNKS).count("port_id", id)
            + ctx.state.table(TRUNKS).count("sub_ports.port_id", id);
        if used > 0
            || ports.iter().any(|own| own["port_id"] == json!(id))
            || text(trunk, "port_id") == id
        {
            let message = format!("Port {id} is in use by another trunk.");
            return Err(refusal(409, "TrunkPortInUse", message));
        }
        let kind = wanted["segmentation_type"].as_str().unwrap_or("vlan");
        let Some(number) = wanted["segmentation_id"].as_i64() else {
            return Err(invalid_input("Invalid segmentation_id: it must be an integer"));
        };
        if ports.iter().any(|own| {
            own["segmentation_id"] == json!(number) && own["segmentation_type"] == json!(kind)
        }) {
            let message = format!(
                "segmentation_type {kind} and segmentation_id {number} already in use on trunk {}.",
                text(trunk, "id")
            );
            return Err(refusal(409, "DuplicateSubPort", message));
        }
        ports.push(json!({ "port_id": id, "segmentation_type": kind, "segmentation_id": number }));
    }
    for port in &ports {
        let id = port["port_id"].as_str().unwrap_or_default();
        ctx.state.set(PORTS, id, json!({ "device_owner": "trunk:subport" }));
    }
    set(trunk, "sub_ports", ports);
    Ok(())
}
