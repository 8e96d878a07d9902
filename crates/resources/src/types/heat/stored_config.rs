//! Stored software configurations: each is immutable and has an id.
//!
//! A resource has its configuration in its data, from which attributes are read. The orchestration service
//! stores a copy among the configurations of the project, under an id that is durable before the first write,
//! so a write can be repeated.

use crate::behaviour::View;
use crate::declare::{Members, Value, map};
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::given;
use crate::{random, wire};
use kiln_cloud::{CallPath, Service, delete, get, put};
use kiln_template::Secret;
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Value as Json, json};

const SERVICE: Service = Service::Orchestration;

/// The entry of the resource's data with its configuration.
const CONFIG: &str = "config";

/// Heat's group for configurations without a tool.
pub(super) const UNGROUPED: &str = "Heat::Ungrouped";

/// A text, hidden if one of the texts that it was built from is.
pub(super) fn text(text: String, is_hidden: bool) -> Value {
    if is_hidden { Value::Secret(Secret::new(text.into())) } else { text.into() }
}

/// Stores a configuration with the inputs, outputs and options from the properties, under a new id.
pub(super) async fn store(op: &mut Op, group: Value, config: Value) -> Result<(), OpError> {
    if op.id().is_some() {
        return publish(op).await;
    }
    let id = random::uuid(op).await?.to_string();
    let properties = op.context().properties.clone();
    let beside =
        |name: &str, otherwise: Value| given(&properties, name).cloned().unwrap_or(otherwise);
    let stored = map([
        ("id", Value::from(id.as_str())),
        ("name", Value::Text(op.context().physical_name.clone())),
        ("group", group),
        ("config", config),
        ("inputs", described(beside("inputs", Value::list([])))),
        ("outputs", described(beside("outputs", Value::list([])))),
        ("options", beside("options", Value::Map(Members::new().into()))),
    ]);
    op.set_data(CONFIG, stored);
    op.set_id(id);
    publish(op).await
}

/// Inputs or outputs, where those without a description have an empty one.
fn described(entries: Value) -> Value {
    let Value::List(entries) = &entries else { return entries };
    Value::list(entries.iter().map(|entry| match entry.as_map() {
        Some(members) if members.get("description").is_none_or(Value::is_null) => {
            let mut members = members.clone();
            members.insert("description".into(), "".into());
            Value::Map(members.into())
        }
        _ => entry.clone(),
    }))
}

/// Stores the resource's configuration in the orchestration service, and keeps it as the service shows it.
pub(super) async fn publish(op: &mut Op) -> Result<(), OpError> {
    let (Some(id), Some(stored)) = (op.id().cloned(), op.data(CONFIG).cloned()) else {
        return Ok(());
    };
    let hidden = wire::hidden_parts(&stored);
    let body = json!({ "software_config": wire::json(&stored), "hidden": hidden });
    let call = put(SERVICE, CallPath::from("/software_configs").id(id), body);
    let reply = op.call("store", call).await?;
    let shown = wire::value(&reply.body["software_config"]);
    if shown.as_map().is_some() {
        op.set_data(CONFIG, wire::hide_parts(shown, hidden_parts(&reply.body)));
    }
    Ok(())
}

/// The paths of the hidden parts in a reply.
pub(super) fn hidden_parts(body: &Json) -> impl Iterator<Item = &str> {
    body["hidden"].as_array().into_iter().flatten().filter_map(Json::as_str)
}

/// Deletes the configuration; it is no error if it does not exist.
pub(super) async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    op.remove("delete", delete(SERVICE, CallPath::from("/software_configs").id(id))).await?;
    op.clear_id();
    Ok(())
}

/// Reads a stored configuration of the project, with the paths of its hidden parts.
pub(super) async fn whole(op: &mut Op, id: &str) -> Result<Json, OpError> {
    let call = get(SERVICE, CallPath::from("/software_configs").id(id));
    Ok(op.read(call).await?.body)
}

/// Reads the content of a stored configuration of the project; `None` if there is none with this id.
pub(crate) async fn content(op: &mut Op, id: &str) -> Result<Option<Value>, OpError> {
    let reply = match op.read(get(SERVICE, CallPath::from("/software_configs").id(id))).await {
        Ok(reply) => reply,
        Err(OpError::Failed(failure)) if failure.class == FailureClass::NotFound => {
            return Ok(None);
        }
        Err(stop) => return Err(stop),
    };
    let config = wire::value(&reply.body["software_config"]["config"]);
    let hidden = hidden_parts(&reply.body).filter_map(|path| path.strip_prefix(CONFIG));
    Ok(Some(wire::hide_parts(config, hidden.map(|rest| rest.trim_start_matches('/')))))
}

/// The configuration in a resource's data.
fn stored<'v>(view: &View<'v>) -> Option<&'v Members> {
    view.data.get(CONFIG)?.as_map()
}

/// Reads an attribute of a configuration, which is one of its fields.
pub(super) fn attribute(
    view: &View<'_>,
    name: &str,
    path: &[Value],
) -> Result<Option<Value>, Fault> {
    let config = stored(view);
    let answer = match name {
        "config" => config.and_then(|config| config.get("config")).cloned().unwrap_or_default(),
        "show" => config.map_or(Value::Null, |config| Value::Map(config.clone().into())),
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}

/// Stores the properties `group` and `config` unchanged.
pub(super) async fn as_written(op: &mut Op) -> Result<(), OpError> {
    let (group, config) = (op.prop("group").clone(), op.prop("config").clone());
    store(op, group, config).await
}
