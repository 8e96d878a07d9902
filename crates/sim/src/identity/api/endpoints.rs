//! `/v3/endpoints`.

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::Endpoint;
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::catalogue::is_address;

const FIELDS: &[Field] = &[
    ("service_id", Kind::Text, true),
    ("interface", Kind::OneOf(&["admin", "internal", "public"]), true),
    ("url", Kind::Name(2048), true),
    ("enabled", Kind::Flag, false),
    ("region", Kind::Note, false),
    ("region_id", Kind::Note, false),
];

const KNOWN: &[&str] =
    &["enabled", "id", "interface", "links", "region", "region_id", "service_id", "url"];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("list_endpoints", Target::default())?;
    let rows = ask.identity.look(|state| {
        state.endpoints.iter().map(|endpoint| show_endpoint(ask, endpoint)).collect()
    });
    ask.list("endpoints", rows, &["interface", "region_id", "service_id"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "endpoint", FIELDS)?;
    caller.may("create_endpoint", Target::default())?;
    let blank = Endpoint {
        id: new_id()?,
        service_id: String::new(),
        interface: String::new(),
        url: String::new(),
        region_id: None,
        enabled: true,
        extra: Map::new(),
    };
    let endpoint = ask.identity.change(|state| {
        let endpoint = changed(blank, asked);
        check(state, &endpoint)?;
        let _ = state.endpoints.put(endpoint.clone());
        Ok(endpoint)
    })?;
    Ok(Reply::created(json!({ "endpoint": show_endpoint(ask, &endpoint) })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("get_endpoint", Target::default())?;
    let endpoint = ask.identity.look(|state| find(state, ask.param(0)))?;
    Ok(Reply::ok(json!({ "endpoint": show_endpoint(ask, &endpoint) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("update_endpoint", Target::default())?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let endpoint = ask.identity.change(|state| {
        let endpoint = find(state, ask.param(0))?;
        let endpoint = changed(endpoint, shape::change(&ask.body, "endpoint", &fields)?);
        check(state, &endpoint)?;
        let _ = state.endpoints.put(endpoint.clone());
        Ok(endpoint)
    })?;
    Ok(Reply::ok(json!({ "endpoint": show_endpoint(ask, &endpoint) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("delete_endpoint", Target::default())?;
    ask.identity.change(|state| {
        let endpoint = find(state, ask.param(0))?;
        state.endpoints.remove(&endpoint.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

fn find(state: &State, id: &str) -> Result<Endpoint, Problem> {
    state.endpoints.get(id).cloned().ok_or_else(|| Problem::missing("endpoint", id))
}

fn changed(mut endpoint: Endpoint, asked: &Map<String, Value>) -> Endpoint {
    if let Some(service) = shape::text(asked, "service_id") {
        endpoint.service_id = service;
    }
    if let Some(interface) = shape::text(asked, "interface") {
        endpoint.interface = interface;
    }
    if let Some(url) = shape::text(asked, "url") {
        endpoint.url = url;
    }
    // `region` is the older name.
    for field in ["region", "region_id"] {
        if asked.contains_key(field) {
            endpoint.region_id = shape::text(asked, field);
        }
    }
    if let Some(enabled) = shape::flag(asked, "enabled") {
        endpoint.enabled = enabled;
    }
    endpoint.extra.extend(shape::others(asked, KNOWN));
    endpoint
}

fn check(state: &State, endpoint: &Endpoint) -> Result<(), Problem> {
    if !state.services.has(&endpoint.service_id) {
        return Err(Problem::expecting("endpoint service_id", "service table"));
    }
    if endpoint.region_id.as_deref().is_some_and(|region| !state.regions.has(region)) {
        return Err(Problem::expecting("endpoint region_id", "region table"));
    }
    if !is_address(&endpoint.url) {
        let url = &endpoint.url;
        return Err(Problem::bad(format!("Cannot create an endpoint with an invalid URL: {url}.")));
    }
    Ok(())
}

fn show_endpoint(ask: &Ask<'_>, endpoint: &Endpoint) -> Value {
    let mut shown = endpoint.extra.clone();
    let mut tell = |key: &str, value: Value| shown.insert(key.to_owned(), value);
    tell("id", json!(endpoint.id));
    tell("interface", json!(endpoint.interface));
    tell("region_id", json!(endpoint.region_id));
    tell("service_id", json!(endpoint.service_id));
    tell("url", json!(endpoint.url));
    tell("enabled", json!(endpoint.enabled));
    tell("region", json!(endpoint.region_id));
    ask.linked(Value::Object(shown), "endpoints", &endpoint.id)
}
