//! `/v3/services`.

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::Service;
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;

const FIELDS: &[Field] = &[
    ("type", Kind::Name(255), true),
    ("description", Kind::Note, false),
    ("enabled", Kind::Flag, false),
    ("name", Kind::Text, false),
];

const KNOWN: &[&str] = &["enabled", "id", "links", "type"];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("list_services", Target::default())?;
    let rows = ask
        .identity
        .look(|state| state.services.iter().map(|service| show_service(ask, service)).collect());
    ask.list("services", rows, &["name", "type"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "service", FIELDS)?;
    caller.may("create_service", Target::default())?;
    let service = Service {
        id: new_id()?,
        kind: shape::text(asked, "type").unwrap_or_default(),
        enabled: shape::flag(asked, "enabled").unwrap_or(true),
        extra: shape::others(asked, KNOWN),
    };
    let shown = show_service(ask, &service);
    ask.identity.change(|state| {
        let _ = state.services.put(service);
        Ok(())
    })?;
    Ok(Reply::created(json!({ "service": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("get_service", Target::default())?;
    let service = ask.identity.look(|state| find(state, ask.param(0)))?;
    Ok(Reply::ok(json!({ "service": show_service(ask, &service) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("update_service", Target::default())?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let service = ask.identity.change(|state| {
        let mut service = find(state, ask.param(0))?;
        let asked: &Map<String, Value> = shape::change(&ask.body, "service", &fields)?;
        if let Some(kind) = shape::text(asked, "type") {
            service.kind = kind;
        }
        if let Some(enabled) = shape::flag(asked, "enabled") {
            service.enabled = enabled;
        }
        service.extra.extend(shape::others(asked, KNOWN));
        let _ = state.services.put(service.clone());
        Ok(service)
    })?;
    Ok(Reply::ok(json!({ "service": show_service(ask, &service) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("delete_service", Target::default())?;
    ask.identity.change(|state| {
        let service = find(state, ask.param(0))?;
        state.remove_service(&service.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

fn find(state: &State, id: &str) -> Result<Service, Problem> {
    state.services.get(id).cloned().ok_or_else(|| Problem::missing("service", id))
}

fn show_service(ask: &Ask<'_>, service: &Service) -> Value {
    let mut shown = service.extra.clone();
    let mut tell = |key: &str, value: Value| shown.insert(key.to_owned(), value);
    tell("id", json!(service.id));
    tell("type", json!(service.kind));
    tell("enabled", json!(service.enabled));
    ask.linked(Value::Object(shown), "services", &service.id)
}
