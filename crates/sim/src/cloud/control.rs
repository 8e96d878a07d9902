//! `/sim/…`: the API by which tests and operators inspect the cloud and inject faults. It is for administrators only.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::faults::{FaultInjector, Faults};
use super::request::{Reply, Request, object, text};
use super::services::SERVICES;
use super::state::CloudState;

/// Handles a request below `/sim`.
pub(super) fn serve(state: &mut CloudState, request: &Request) -> Reply {
    let body: Value = serde_json::from_slice(&request.bytes).unwrap_or(Value::Null);
    match (request.method.as_str(), request.parts().as_slice()) {
        ("GET", ["objects"]) => Reply::ok(objects(state, request.query("project_id"))),
        ("GET", ["calls"]) => Reply::ok(json!({ "calls": state.calls })),
        ("DELETE", ["calls"]) => {
            state.calls.clear();
            Reply::empty(204)
        }
        ("GET", ["faults"]) => Reply::ok(json!({ "faults": state.faults.rules() })),
        ("POST", ["faults"]) => faults(state, &body),
        ("POST", ["quota"]) => quota(state, &body),
        ("POST", ["reset"]) => {
            state.clear();
            seed(state);
            Reply::empty(204)
        }
        ("POST", ["break"]) => break_object(state, &body),
        _ => {
            wrong(404, "There is nothing at this path: see /sim/objects, /sim/calls, /sim/faults.")
        }
    }
}

/// Creates the objects that every new cloud has.
pub(super) fn seed(state: &mut CloudState) {
    SERVICES.iter().for_each(|service| (service.seed)(state));
}

fn wrong(status: u16, message: &str) -> Reply {
    Reply::json(status, json!({ "error": { "code": status, "message": message } }))
}

/// Counts the objects and lists their keys, by collection and project.
fn objects(state: &CloudState, project: Option<&str>) -> Value {
    let mut all: BTreeMap<&str, Value> = BTreeMap::new();
    for (name, table) in state.tables() {
        let mut by_project: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (key, row) in table.pairs() {
            let owner = text(row, "project_id");
            if project.is_none_or(|project| project == owner) {
                by_project.entry(owner).or_default().push(key);
            }
        }
        let count: usize = by_project.values().map(Vec::len).sum();
        if count > 0 {
            all.insert(name, json!({ "count": count, "projects": by_project }));
        }
    }
    json!({ "objects": all })
}

fn faults(state: &mut CloudState, body: &Value) -> Reply {
    let rules = if body["faults"].is_array() { &body["faults"] } else { body };
    match serde_json::from_value::<Faults>(rules.clone()) {
        Ok(rules) => {
            state.faults = FaultInjector::new(rules);
            Reply::empty(204)
        }
        Err(error) => wrong(400, &format!("The rules cannot be understood: {error}")),
    }
}

/// Sets a quota from `{service, project_id, name, limit}`; the project `*` stands for all projects without a quota of
/// their own.
fn quota(state: &mut CloudState, body: &Value) -> Reply {
    let word = |name: &str| body[name].as_str();
    match (word("service"), word("name"), body["limit"].as_i64()) {
        (Some(service), Some(name), Some(limit)) => {
            state.set_quota(service, word("project_id").unwrap_or("*"), name, limit);
            Reply::empty(204)
        }
        _ => wrong(400, "Say service, name and limit."),
    }
}

/// Changes the fields of an object as `{collection, id, fields}` says, or removes the object if `fields` is absent.
fn break_object(state: &mut CloudState, body: &Value) -> Reply {
    let (table, key) = (body["collection"].as_str(), body["id"].as_str());
    let (table, key) = (table.unwrap_or_default(), key.unwrap_or_default());
    if state.get(table, key).is_none() {
        return wrong(404, &format!("There is no {key} in {table}."));
    }
    match &body["fields"] {
        Value::Object(fields) => {
            state.set(table, key, Value::from(fields.clone()));
        }
        _ => {
            state.remove(table, key);
        }
    }
    Reply::ok(json!({ "object": object(json!(state.get(table, key))) }))
}
