//! Server groups (affinity and anti-affinity) and host aggregates.

use serde_json::{Value, json};

use super::super::microversioned;
use super::super::request::{Answer, Reply, RequestContext, list, object, set, strings, text};
use super::super::schema::Collection;
use super::super::table::Obj;
use super::dialect::{NOVA, fault};
use super::{AGGREGATES, GROUPS, HOSTS, SERVERS, action};

pub(super) static GROUP: Collection = Collection {
    name: GROUPS,
    path: "os-server-groups",
    singular: "server_group",
    plural: "server_groups",
    title: "Instance group",
    operations: "CLSD",
    statuses: (200, 200, 204),
    quota: Some(("server_groups", 10)),
    fields: "name       text c !
             policies   list c -
             policy     text c -
             rules      map  c {}
             members    list r []
             metadata   map  r {}
             user_id    text r @user
             project_id text r @project",
    make: |ctx, row| {
        let known = ["affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"];
        let supplied = if ctx.version >= 64 {
            text(row, "policy").to_owned()
        } else {
            strings(row, "policies").first().cloned().unwrap_or_default()
        };
        if !known.contains(&supplied.as_str()) {
            let field = if ctx.version >= 64 { "policy" } else { "policies" };
            let reason = format!("'{supplied}' is not one of {}", crate::python::repr_list(&known));
            return Err(microversioned::wrong(field, &json!(supplied), &reason));
        }
        set(row, "policy", supplied);
        row.remove("policies");
        Ok(())
    },
    show: |ctx, row| {
        let members: Vec<String> = strings(row, "members")
            .into_iter()
            .filter(|id| ctx.state.get(SERVERS, id).is_some())
            .collect();
        set(row, "members", members);
        if ctx.version < 64 {
            let policy = row.remove("policy").unwrap_or_default();
            set(row, "policies", json!([policy]));
            row.remove("rules");
        } else {
            row.remove("metadata");
        }
        if ctx.version < 13 {
            row.remove("project_id");
            row.remove("user_id");
        }
    },
    ..Collection::new(&NOVA)
};

pub(super) static AGGREGATE: Collection = Collection {
    name: AGGREGATES,
    path: "os-aggregates",
    singular: "aggregate",
    plural: "aggregates",
    title: "Aggregate",
    operations: "",
    fields: "name text r \"\"",
    ..Collection::new(&NOVA)
};

/// Handles aggregates, whose ids are numbers.
pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    let ["os-aggregates", rest @ ..] = path else { return None };
    if !ctx.caller.is_admin {
        let message = "Policy doesn't allow os_compute_api:os-aggregates:index to be performed.";
        return Some(Err(fault(403, message)));
    }
    Some(match (method, rest) {
        ("GET", []) => {
            let all: Vec<&Obj> = ctx.state.table(AGGREGATES).iter().collect();
            Ok(Reply::ok(json!({ "aggregates": all })))
        }
        ("POST", []) => create(ctx),
        ("GET", [id]) => find(ctx, id).map(|row| Reply::ok(json!({ "aggregate": row }))),
        ("PUT", [id]) => update(ctx, id),
        ("DELETE", [id]) => delete(ctx, id),
        ("POST", [id, "action"]) => act(ctx, id),
        _ => return None,
    })
}

fn find(ctx: &RequestContext<'_>, id: &str) -> Result<Obj, super::Refusal> {
    let row = ctx.state.get(AGGREGATES, id).cloned();
    row.ok_or_else(|| fault(404, format!("Aggregate {id} could not be found.")))
}

fn name_is_free(ctx: &RequestContext<'_>, name: &str, own: &str) -> Result<(), super::Refusal> {
    let twins = ctx.state.table(AGGREGATES).with("name", name);
    if twins.iter().any(|twin| twin["id"].as_u64() != own.parse().ok()) {
        return Err(fault(409, format!("Aggregate {name} already exists.")));
    }
    Ok(())
}

fn create(ctx: &mut RequestContext<'_>) -> Answer {
    let sent = ctx.sent(&AGGREGATE)?;
    let Some(name) = sent.get("name").and_then(Value::as_str) else {
        return Err(microversioned::missing("aggregate", "name", &sent));
    };
    name_is_free(ctx, name, "")?;
    let zone = sent.get("availability_zone").cloned().unwrap_or_default();
    let id = ctx.state.next_number();
    let metadata = if zone.is_string() { json!({ "availability_zone": zone }) } else { json!({}) };
    let row = object(json!({
        "id": id, "uuid": ctx.state.uuid(), "name": name, "availability_zone": zone, "hosts": [],
        "metadata": metadata, "created_at": ctx.state.timestamp_micros(), "updated_at": null,
        "deleted": false, "deleted_at": null,
    }));
    ctx.state.put(AGGREGATES, &id.to_string(), row.clone());
    Ok(Reply::ok(json!({ "aggregate": row })))
}

fn update(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let mut row = find(ctx, id)?;
    let sent = ctx.sent(&AGGREGATE)?;
    if let Some(name) = sent.get("name").and_then(Value::as_str) {
        name_is_free(ctx, name, id)?;
        set(&mut row, "name", name);
    }
    if let Some(zone) = sent.get("availability_zone") {
        set(&mut row, "availability_zone", zone.clone());
        row.set_entry("metadata", "availability_zone", zone.clone());
    }
    ctx.state.put(AGGREGATES, id, row.clone());
    Ok(Reply::ok(json!({ "aggregate": row })))
}

fn delete(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = find(ctx, id)?;
    if !list(&row, "hosts").is_empty() {
        let message =
            format!("Cannot remove host from aggregate {id}. Reason: Host aggregate is not empty.");
        return Err(fault(400, message));
    }
    ctx.state.remove(AGGREGATES, id);
    Ok(Reply::empty(200))
}

fn act(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let mut row = find(ctx, id)?;
    let Some((name, what)) = action(&ctx.body) else {
        return Err(fault(400, "Malformed request body"));
    };
    let host = what["host"].as_str().unwrap_or_default().to_owned();
    let mut hosts = strings(&row, "hosts");
    match name.as_str() {
        "add_host" => {
            if !HOSTS.contains(&host.as_str()) {
                return Err(fault(404, format!("Compute host {host} could not be found.")));
            }
            if hosts.contains(&host) {
                return Err(fault(409, format!("Aggregate {id} already has host {host}.")));
            }
            hosts.push(host);
            set(&mut row, "hosts", hosts);
        }
        "remove_host" => {
            if !hosts.contains(&host) {
                return Err(fault(404, format!("Aggregate {id} has no host {host}.")));
            }
            hosts.retain(|own| *own != host);
            set(&mut row, "hosts", hosts);
        }
        "set_metadata" => {
            let mut metadata = row["metadata"].as_object().cloned().unwrap_or_default();
            for (key, value) in what["metadata"].as_object().cloned().unwrap_or_default() {
                match value {
                    Value::Null => drop(metadata.remove(&key)),
                    value => drop(metadata.insert(key, value)),
                }
            }
            if let Some(zone) = metadata.get("availability_zone").cloned() {
                set(&mut row, "availability_zone", zone);
            }
            set(&mut row, "metadata", metadata);
        }
        other => return Err(fault(400, format!("There is no such action: {other}."))),
    }
    ctx.state.put(AGGREGATES, id, row.clone());
    Ok(Reply::ok(json!({ "aggregate": row })))
}
