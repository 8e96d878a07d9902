//! Groups of servers that belong together or apart, and aggregates of hosts.

use serde_json::{Value, json};

use super::super::ask::{Answer, Reply, Turn, list, object, set, text, words};
use super::super::fault_body;
use super::super::schema::{Collection, plain};
use super::super::table::Obj;
use super::dialect::{Nova, fault};
use super::{AGGREGATES, GROUPS, HOSTS, SERVERS, action};

pub(super) static GROUP: Collection = Collection {
    name: GROUPS,
    path: "os-server-groups",
    one: "server_group",
    many: "server_groups",
    title: "Instance group",
    verbs: "CLSD",
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
    make: |turn, row| {
        let known = ["affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"];
        let given = match turn.version >= 64 {
            true => text(row, "policy").to_owned(),
            false => words(row, "policies").first().cloned().unwrap_or_default(),
        };
        if !known.contains(&given.as_str()) {
            let field = if turn.version >= 64 { "policy" } else { "policies" };
            let reason =
                format!("'{given}' is not one of {}", super::super::dialect::python_list(&known));
            return Err(fault_body::wrong(field, &json!(given), &reason));
        }
        set(row, "policy", given);
        row.remove("policies");
        Ok(())
    },
    show: |turn, row| {
        let members: Vec<String> = words(row, "members")
            .into_iter()
            .filter(|id| turn.world.get(SERVERS, id).is_some())
            .collect();
        set(row, "members", members);
        if turn.version < 64 {
            let policy = row.remove("policy").unwrap_or_default();
            set(row, "policies", json!([policy]));
            row.remove("rules");
        } else {
            row.remove("metadata");
        }
        if turn.version < 13 {
            row.remove("project_id");
            row.remove("user_id");
        }
    },
    ..plain(&Nova)
};

pub(super) static AGGREGATE: Collection = Collection {
    name: AGGREGATES,
    path: "os-aggregates",
    one: "aggregate",
    many: "aggregates",
    title: "Aggregate",
    verbs: "",
    fields: "name text r \"\"",
    ..plain(&Nova)
};

/// Aggregates have numbers for ids, so they go their own way.
pub(super) fn serve(turn: &mut Turn<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    let ["os-aggregates", rest @ ..] = path else { return None };
    if !turn.who.is_admin {
        let message = "Policy doesn't allow os_compute_api:os-aggregates:index to be performed.";
        return Some(Err(fault(403, message)));
    }
    Some(match (method, rest) {
        ("GET", []) => {
            let all: Vec<&Obj> = turn.world.table(AGGREGATES).iter().collect();
            Ok(Reply::ok(json!({ "aggregates": all })))
        }
        ("POST", []) => create(turn),
        ("GET", [id]) => find(turn, id).map(|row| Reply::ok(json!({ "aggregate": row }))),
        ("PUT", [id]) => update(turn, id),
        ("DELETE", [id]) => delete(turn, id),
        ("POST", [id, "action"]) => act(turn, id),
        _ => return None,
    })
}

fn find(turn: &Turn<'_>, id: &str) -> Result<Obj, super::Refusal> {
    let row = turn.world.get(AGGREGATES, id).cloned();
    row.ok_or_else(|| fault(404, format!("Aggregate {id} could not be found.")))
}

fn name_is_free(turn: &Turn<'_>, name: &str, own: &str) -> Result<(), super::Refusal> {
    let twins = turn.world.table(AGGREGATES).with("name", name);
    if twins.iter().any(|twin| twin["id"].as_u64() != own.parse().ok()) {
        return Err(fault(409, format!("Aggregate {name} already exists.")));
    }
    Ok(())
}

fn create(turn: &mut Turn<'_>) -> Answer {
    let sent = turn.sent(&AGGREGATE)?;
    let Some(name) = sent.get("name").and_then(Value::as_str) else {
        return Err(fault_body::missing("aggregate", "name", &sent));
    };
    name_is_free(turn, name, "")?;
    let zone = sent.get("availability_zone").cloned().unwrap_or_default();
    let id = turn.world.number();
    let metadata = if zone.is_string() { json!({ "availability_zone": zone }) } else { json!({}) };
    let row = object(json!({
        "id": id, "uuid": turn.world.uuid(), "name": name, "availability_zone": zone, "hosts": [],
        "metadata": metadata, "created_at": turn.world.stamp_micros(), "updated_at": null,
        "deleted": false, "deleted_at": null,
    }));
    turn.world.put(AGGREGATES, &id.to_string(), row.clone());
    Ok(Reply::ok(json!({ "aggregate": row })))
}

fn update(turn: &mut Turn<'_>, id: &str) -> Answer {
    let mut row = find(turn, id)?;
    let sent = turn.sent(&AGGREGATE)?;
    if let Some(name) = sent.get("name").and_then(Value::as_str) {
        name_is_free(turn, name, id)?;
        set(&mut row, "name", name);
    }
    if let Some(zone) = sent.get("availability_zone") {
        set(&mut row, "availability_zone", zone.clone());
        row.set_entry("metadata", "availability_zone", zone.clone());
    }
    turn.world.put(AGGREGATES, id, row.clone());
    Ok(Reply::ok(json!({ "aggregate": row })))
}

fn delete(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = find(turn, id)?;
    if !list(&row, "hosts").is_empty() {
        let message =
            format!("Cannot remove host from aggregate {id}. Reason: Host aggregate is not empty.");
        return Err(fault(400, message));
    }
    turn.world.remove(AGGREGATES, id);
    Ok(Reply::empty(200))
}

fn act(turn: &mut Turn<'_>, id: &str) -> Answer {
    let mut row = find(turn, id)?;
    let Some((name, what)) = action(&turn.body) else {
        return Err(fault(400, "Malformed request body"));
    };
    let host = what["host"].as_str().unwrap_or_default().to_owned();
    let mut hosts = words(&row, "hosts");
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
    turn.world.put(AGGREGATES, id, row.clone());
    Ok(Reply::ok(json!({ "aggregate": row })))
}
