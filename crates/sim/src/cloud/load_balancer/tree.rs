//! The tree below a load balancer: the ownership of objects, and immutability during changes.

use serde_json::{Value, json};

use super::super::error_style::refuse;
use super::super::network::{self, PORTS};
use super::super::request::{Answer, Done, Refusal, Reply, RequestContext, object, set, text};
use super::super::rest;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::collections;
use super::{BALANCERS, LISTENERS, MEMBERS, MONITORS, POLICIES, POOLS, RULES};

/// The tables whose rows belong to a load balancer.
const TABLES: &[&str] = &[BALANCERS, LISTENERS, MEMBERS, MONITORS, POLICIES, POOLS, RULES];

/// Returns the load balancer that a row belongs to.
pub(super) fn balancer_of(state: &CloudState, row: &Obj) -> String {
    if let Some(id) = row.get("loadbalancer_id").and_then(Value::as_str) {
        return id.to_owned();
    }
    let up = |table: &str, field: &str| balancer_of(state, &state.copy(table, text(row, field)));
    if row.contains_key("pool_id") {
        return up(POOLS, "pool_id");
    }
    if row.contains_key("l7policy_id") {
        return up(POLICIES, "l7policy_id");
    }
    if row.contains_key("listener_id") {
        return up(LISTENERS, "listener_id");
    }
    // A load balancer belongs to itself; a missing row belongs to no load balancer.
    text(row, "id").to_owned()
}

fn immutable(title: &str, id: &str) -> Refusal {
    refuse(409, format!("{title} {id} is immutable and cannot be updated."))
}

/// Marks the load balancer as changing; rejects the request if it is already.
pub(super) fn touch(ctx: &mut RequestContext<'_>, id: &str) -> Done {
    let row = ctx.state.copy(BALANCERS, id);
    if row.is_empty() {
        return Err(refuse(404, format!("Load Balancer {id} not found.")));
    }
    if text(&row, "provisioning_status") != "ACTIVE" && text(&row, "provisioning_status") != "ERROR"
    {
        return Err(immutable("Load Balancer", id));
    }
    ctx.state.set(BALANCERS, id, json!({ "provisioning_status": "PENDING_UPDATE" }));
    ctx.state.step_when_built("load-balancer/settled", &format!("{BALANCERS}|{id}"));
    Ok(())
}

/// Initializes the status of a new row and schedules its activation.
pub(super) fn begin(ctx: &mut RequestContext<'_>, table: &str, row: &mut Obj) {
    set(row, "provisioning_status", "PENDING_CREATE");
    set(row, "created_at", ctx.state.timestamp_seconds());
    ctx.state.step_when_built("load-balancer/settled", &format!("{table}|{}", text(row, "id")));
}

/// Determines the table of a row from its fields.
fn table_of(row: &Obj) -> &'static str {
    let has = |field: &str| row.contains_key(field);
    if has("vip_port_id") {
        BALANCERS
    } else if has("lb_algorithm") {
        POOLS
    } else if has("delay") {
        MONITORS
    } else if has("compare_type") {
        RULES
    } else if has("redirect_url") {
        POLICIES
    } else if has("weight") {
        MEMBERS
    } else {
        LISTENERS
    }
}

/// Adds a child to a load balancer.
pub(super) fn join(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let balancer = balancer_of(ctx.state, row);
    touch(ctx, &balancer)?;
    begin(ctx, table_of(row), row);
    Ok(())
}

/// Begins a change of a row.
pub(super) fn alter(ctx: &mut RequestContext<'_>, old: &Obj, new: &mut Obj) -> Done {
    let balancer = balancer_of(ctx.state, old);
    touch(ctx, &balancer)?;
    let table = table_of(old);
    set(new, "provisioning_status", "PENDING_UPDATE");
    set(new, "updated_at", ctx.state.timestamp_seconds());
    if table != BALANCERS {
        ctx.state.step_when_built("load-balancer/settled", &format!("{table}|{}", text(old, "id")));
    }
    Ok(())
}

/// Finishes a change of a row.
pub(super) fn settled(state: &mut CloudState, key: &str) {
    let Some((table, id)) = key.split_once('|') else { return };
    let row = state.copy(table, id);
    if text(&row, "provisioning_status").starts_with("PENDING")
        && text(&row, "provisioning_status") != "PENDING_DELETE"
    {
        let operating = match table {
            MEMBERS => "NO_MONITOR",
            _ => "ONLINE",
        };
        state.set(
            table,
            id,
            json!({ "provisioning_status": "ACTIVE", "operating_status": operating }),
        );
    }
}

/// Begins the removal of a child, which stays visible until the end.
pub(super) fn leave(ctx: &mut RequestContext<'_>, row: &Obj) -> Done {
    let (id, table) = (text(row, "id"), table_of(row));
    let balancer = balancer_of(ctx.state, row);
    if table == POOLS {
        let used = ctx.state.table(POLICIES).with("redirect_pool_id", id);
        if let Some(policy) = used.first() {
            return Err(refuse(
                409,
                format!("Pool {id} is in use by L7 policy {}", text(policy, "id")),
            ));
        }
    }
    touch(ctx, &balancer)?;
    cascade(ctx.state, table, id);
    ctx.state.set(table, id, json!({ "provisioning_status": "PENDING_DELETE" }));
    let key = format!("{table}|{id}");
    ctx.state.step_when_built("load-balancer/gone", &key);
    Ok(())
}

/// Removes the rows below a row.
fn cascade(state: &mut CloudState, table: &str, id: &str) {
    let children: &[(&str, &'static str)] = match table {
        POOLS => &[(MEMBERS, "pool_id"), (MONITORS, "pool_id")],
        LISTENERS => &[(POLICIES, "listener_id")],
        POLICIES => &[(RULES, "l7policy_id")],
        _ => &[],
    };
    for (child, field) in children {
        for row in state.with(child, field, id) {
            let key = text(&row, "id").to_owned();
            cascade(state, child, &key);
            state.remove(child, &key);
        }
    }
    if table == POOLS {
        for listener in state.with(LISTENERS, "default_pool_id", id) {
            state.set(LISTENERS, text(&listener, "id"), json!({ "default_pool_id": null }));
        }
    }
}

/// Finishes a removal.
pub(super) fn gone(state: &mut CloudState, key: &str) {
    let Some((table, id)) = key.split_once('|') else { return };
    if table == BALANCERS {
        let port = text(&state.copy(BALANCERS, id), "vip_port_id").to_owned();
        let row = state.copy(PORTS, &port);
        if text(&row, "device_id") == format!("lb-{id}") {
            network::ports::release_floating(state, &port);
            if text(&row, "name").starts_with("octavia-lb-") {
                state.remove(PORTS, &port);
            } else {
                state.set(PORTS, &port, json!({ "device_id": "", "device_owner": "" }));
            }
        }
    }
    state.remove(table, id);
}

pub(super) fn delete_balancer(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = ctx.find(&collections::BALANCER, id)?;
    let children: Vec<(&str, String)> = TABLES
        .iter()
        .skip(1)
        .flat_map(|table| ctx.state.table(table).iter().map(move |row| (*table, row)))
        .filter(|(_, row)| balancer_of(ctx.state, row) == id)
        .map(|(table, row)| (table, text(row, "id").to_owned()))
        .collect();
    let cascades =
        ctx.request.query("cascade").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    if !children.is_empty() && !cascades {
        let message = "Validation failure: Cannot delete Load Balancer %s - it has children";
        return Err(refuse(400, message.replace("%s", id)));
    }
    let status = text(&row, "provisioning_status");
    if status != "ACTIVE" && status != "ERROR" {
        return Err(immutable("Load Balancer", id));
    }
    for (table, child) in children {
        ctx.state.remove(table, &child);
    }
    ctx.state.set(BALANCERS, id, json!({ "provisioning_status": "PENDING_DELETE" }));
    ctx.state.step_when_built("load-balancer/gone", &format!("{BALANCERS}|{id}"));
    Ok(Reply::empty(204))
}

fn ids(ctx: &RequestContext<'_>, table: &str, field: &'static str, key: &str) -> Value {
    let rows = ctx.state.table(table).with(field, key);
    rows.iter().map(|row| json!({ "id": row["id"] })).collect()
}

/// Adds the references between parents and children.
pub(super) fn show(ctx: &RequestContext<'_>, row: &mut Obj) {
    let id = text(row, "id").to_owned();
    match table_of(row) {
        BALANCERS => {
            let listeners = ids(ctx, LISTENERS, "loadbalancer_id", &id);
            let pools = ids(ctx, POOLS, "loadbalancer_id", &id);
            set(row, "listeners", listeners);
            set(row, "pools", pools);
        }
        LISTENERS => {
            let balancer = row.remove("loadbalancer_id").unwrap_or_default();
            set(row, "loadbalancers", json!([{ "id": balancer }]));
            set(row, "l7policies", ids(ctx, POLICIES, "listener_id", &id));
        }
        POOLS => {
            let balancer = row.remove("loadbalancer_id").unwrap_or_default();
            set(row, "loadbalancers", json!([{ "id": balancer }]));
            set(row, "listeners", ids(ctx, LISTENERS, "default_pool_id", &id));
            set(row, "members", ids(ctx, MEMBERS, "pool_id", &id));
            let monitor =
                ctx.state.table(MONITORS).with("pool_id", &id).first().map(|row| row["id"].clone());
            set(row, "healthmonitor_id", monitor);
        }
        POLICIES => set(row, "rules", ids(ctx, RULES, "l7policy_id", &id)),
        MONITORS => {
            let pool = row.remove("pool_id").unwrap_or_default();
            set(row, "pools", json!([{ "id": pool }]));
        }
        MEMBERS => {
            row.remove("pool_id");
        }
        _ => {
            row.remove("l7policy_id");
        }
    }
}

/// Returns the whole tree with its statuses.
pub(super) fn status(ctx: &RequestContext<'_>, id: &str) -> Answer {
    let row = ctx.find(&collections::BALANCER, id)?;
    let brief = |row: &Obj| {
        json!({
            "id": row["id"], "name": row["name"], "provisioning_status": row["provisioning_status"],
            "operating_status": row["operating_status"],
        })
    };
    let mut tree = brief(&row);
    let listeners = ctx.state.table(LISTENERS).with("loadbalancer_id", id);
    tree["listeners"] = listeners.iter().map(|row| brief(row)).collect();
    let pools = ctx.state.table(POOLS).with("loadbalancer_id", id);
    tree["pools"] = pools.iter().map(|row| brief(row)).collect();
    Ok(Reply::ok(json!({ "statuses": { "loadbalancer": tree } })))
}

/// Replaces the members of a pool: members that the request does not name are removed, the others are created or
/// updated.
pub(super) fn replace_members(ctx: &mut RequestContext<'_>, pool: &str) -> Answer {
    let row = ctx.find(&collections::POOL, pool)?;
    let wanted = ctx.body["members"].as_array().cloned().unwrap_or_default();
    let balancer = balancer_of(ctx.state, &row);
    let state = ctx.state.copy(BALANCERS, &balancer);
    if text(&state, "provisioning_status") != "ACTIVE" {
        return Err(immutable("Load Balancer", &balancer));
    }
    let additive =
        ctx.request.query("additive_only").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    let same = |one: &Obj, other: &Value| {
        one["address"] == other["address"] && one["protocol_port"] == other["protocol_port"]
    };
    let old = ctx.state.with(MEMBERS, "pool_id", pool);
    for member in &old {
        if !additive && !wanted.iter().any(|wanted| same(member, wanted)) {
            ctx.state.remove(MEMBERS, text(member, "id"));
        }
    }
    for wanted in wanted {
        // Otherwise each change would find the load balancer immutable because of the previous one.
        ctx.state.set(BALANCERS, &balancer, json!({ "provisioning_status": "ACTIVE" }));
        let mut sent = object(wanted.clone());
        match old.iter().find(|member| same(member, &wanted)) {
            Some(member) => {
                for fixed in ["address", "protocol_port", "subnet_id"] {
                    sent.remove(fixed);
                }
                rest::update(ctx, &collections::MEMBER, text(member, "id"), &sent)?;
            }
            None => {
                set(&mut sent, "pool_id", pool);
                rest::create(ctx, &collections::MEMBER, &sent)?;
            }
        }
    }
    Ok(Reply::empty(202))
}
