//! `/v3/endpoints`.

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::Endpoint;
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::validation::{self, Field, FieldType};
use super::catalogue::is_address;

const FIELDS: &[Field] = &[
    ("service_id", FieldType::Text, true),
    ("interface", FieldType::OneOf(&["admin", "internal", "public"]), true),
    ("url", FieldType::Name(2048), true),
    ("enabled", FieldType::Flag, false),
    ("region", FieldType::Note, false),
    ("region_id", FieldType::Note, false),
];

const KNOWN: &[&str] =
    &["enabled", "id", "interface", "links", "region", "region_id", "service_id", "url"];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("list_endpoints", Target::default())?;
    let rows = request.identity.read(|state| {
        state.endpoints.iter().map(|endpoint| show_endpoint(request, endpoint)).collect()
    });
    request.list("endpoints", rows, &["interface", "region_id", "service_id"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "endpoint", FIELDS)?;
    caller.authorize("create_endpoint", Target::default())?;
    let blank = Endpoint {
        id: new_id()?,
        service_id: String::new(),
        interface: String::new(),
        url: String::new(),
        region_id: None,
        enabled: true,
        extra: Map::new(),
    };
    let endpoint = request.identity.update(|state| {
        let endpoint = changed(blank, requested);
        check(state, &endpoint)?;
        let _ = state.endpoints.put(endpoint.clone());
        Ok(endpoint)
    })?;
    Ok(Reply::created(json!({ "endpoint": show_endpoint(request, &endpoint) })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("get_endpoint", Target::default())?;
    let endpoint = request.identity.read(|state| find(state, request.param(0)))?;
    Ok(Reply::ok(json!({ "endpoint": show_endpoint(request, &endpoint) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("update_endpoint", Target::default())?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let endpoint = request.identity.update(|state| {
        let endpoint = find(state, request.param(0))?;
        let endpoint =
            changed(endpoint, validation::non_empty_object(&request.body, "endpoint", &fields)?);
        check(state, &endpoint)?;
        let _ = state.endpoints.put(endpoint.clone());
        Ok(endpoint)
    })?;
    Ok(Reply::ok(json!({ "endpoint": show_endpoint(request, &endpoint) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("delete_endpoint", Target::default())?;
    request.identity.update(|state| {
        let endpoint = find(state, request.param(0))?;
        state.endpoints.remove(&endpoint.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

fn find(state: &State, id: &str) -> Result<Endpoint, ApiError> {
    state.endpoints.get(id).cloned().ok_or_else(|| ApiError::missing("endpoint", id))
}

fn changed(mut endpoint: Endpoint, requested: &Map<String, Value>) -> Endpoint {
    if let Some(service) = validation::text(requested, "service_id") {
        endpoint.service_id = service;
    }
    if let Some(interface) = validation::text(requested, "interface") {
        endpoint.interface = interface;
    }
    if let Some(url) = validation::text(requested, "url") {
        endpoint.url = url;
    }
    // `region` is the older name of the field.
    for field in ["region", "region_id"] {
        if requested.contains_key(field) {
            endpoint.region_id = validation::text(requested, field);
        }
    }
    if let Some(enabled) = validation::flag(requested, "enabled") {
        endpoint.enabled = enabled;
    }
    endpoint.extra.extend(validation::extra_fields(requested, KNOWN));
    endpoint
}

fn check(state: &State, endpoint: &Endpoint) -> Result<(), ApiError> {
    if !state.services.has(&endpoint.service_id) {
        return Err(ApiError::expecting("endpoint service_id", "service table"));
    }
    if endpoint.region_id.as_deref().is_some_and(|region| !state.regions.has(region)) {
        return Err(ApiError::expecting("endpoint region_id", "region table"));
    }
    if !is_address(&endpoint.url) {
        let url = &endpoint.url;
        return Err(ApiError::bad(format!(
            "Cannot create an endpoint with an invalid URL: {url}."
        )));
    }
    Ok(())
}

fn show_endpoint(request: &Request<'_>, endpoint: &Endpoint) -> Value {
    let mut rendered = endpoint.extra.clone();
    let mut set = |key: &str, value: Value| rendered.insert(key.to_owned(), value);
    set("id", json!(endpoint.id));
    set("interface", json!(endpoint.interface));
    set("region_id", json!(endpoint.region_id));
    set("service_id", json!(endpoint.service_id));
    set("url", json!(endpoint.url));
    set("enabled", json!(endpoint.enabled));
    set("region", json!(endpoint.region_id));
    request.with_self_link(Value::Object(rendered), "endpoints", &endpoint.id)
}
