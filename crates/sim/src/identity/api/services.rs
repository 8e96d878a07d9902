//! `/v3/services`.

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::Service;
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::validation::{self, Field, FieldType};

const FIELDS: &[Field] = &[
    ("type", FieldType::Name(255), true),
    ("description", FieldType::Note, false),
    ("enabled", FieldType::Flag, false),
    ("name", FieldType::Text, false),
];

const KNOWN: &[&str] = &["enabled", "id", "links", "type"];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("list_services", Target::default())?;
    let rows = request.identity.read(|state| {
        state.services.iter().map(|service| show_service(request, service)).collect()
    });
    request.list("services", rows, &["name", "type"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "service", FIELDS)?;
    caller.authorize("create_service", Target::default())?;
    let service = Service {
        id: new_id()?,
        service_type: validation::text(requested, "type").unwrap_or_default(),
        enabled: validation::flag(requested, "enabled").unwrap_or(true),
        extra: validation::extra_fields(requested, KNOWN),
    };
    let rendered = show_service(request, &service);
    request.identity.update(|state| {
        let _ = state.services.put(service);
        Ok(())
    })?;
    Ok(Reply::created(json!({ "service": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("get_service", Target::default())?;
    let service = request.identity.read(|state| find(state, request.param(0)))?;
    Ok(Reply::ok(json!({ "service": show_service(request, &service) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("update_service", Target::default())?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let service = request.identity.update(|state| {
        let mut service = find(state, request.param(0))?;
        let requested: &Map<String, Value> =
            validation::non_empty_object(&request.body, "service", &fields)?;
        if let Some(kind) = validation::text(requested, "type") {
            service.service_type = kind;
        }
        if let Some(enabled) = validation::flag(requested, "enabled") {
            service.enabled = enabled;
        }
        service.extra.extend(validation::extra_fields(requested, KNOWN));
        let _ = state.services.put(service.clone());
        Ok(service)
    })?;
    Ok(Reply::ok(json!({ "service": show_service(request, &service) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("delete_service", Target::default())?;
    request.identity.update(|state| {
        let service = find(state, request.param(0))?;
        state.remove_service(&service.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

fn find(state: &State, id: &str) -> Result<Service, ApiError> {
    state.services.get(id).cloned().ok_or_else(|| ApiError::missing("service", id))
}

fn show_service(request: &Request<'_>, service: &Service) -> Value {
    let mut rendered = service.extra.clone();
    let mut set = |key: &str, value: Value| rendered.insert(key.to_owned(), value);
    set("id", json!(service.id));
    set("type", json!(service.service_type));
    set("enabled", json!(service.enabled));
    request.with_self_link(Value::Object(rendered), "services", &service.id)
}
