//! Software configurations as they are kept: immutable, each with an id of its own.
//!
//! A resource knows its configuration by heart, and attributes are answered from that. Others find it
//! among the configurations of its project, where it is kept through the orchestration service: written
//! under an id that was drawn and is durable before, so that writing it twice does no harm.

use crate::behaviour::View;
use crate::declare::{Members, Value, map};
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::given;
use crate::{random, wire};
use kiln_cloud::{Service, delete, get, put};
use kiln_template::Secret;
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Value as Json, json};

const SERVICE: Service = Service::Orchestration;

/// Where a resource keeps its configuration.
const CONFIG: &str = "config";

/// The group of configurations that belong to none.
pub(super) const UNGROUPED: &str = "Heat::Ungrouped";

/// A text made from others, hidden if one of them is.
pub(super) fn text(text: String, is_hidden: bool) -> Value {
    if is_hidden { Value::Secret(Secret::new(text.into())) } else { text.into() }
}

/// Keeps a configuration, with what the resource's properties say beside it, under a new id.
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
        ("inputs", beside("inputs", Value::list([]))),
        ("outputs", beside("outputs", Value::list([]))),
        ("options", beside("options", Value::Map(Members::new().into()))),
    ]);
    op.set_data(CONFIG, stored);
    op.set_id(id);
    publish(op).await
}

/// Writes what the resource keeps to where others find it.
pub(super) async fn publish(op: &mut Op) -> Result<(), OpError> {
    let (Some(id), Some(stored)) = (op.id().cloned(), op.data(CONFIG).cloned()) else {
        return Ok(());
    };
    let members = stored.as_map().into_iter().flatten();
    let hidden = members.filter(|(_, value)| value.has_secret()).map(|(name, _)| &**name);
    let hidden: Vec<&str> = hidden.collect();
    let body = json!({ "software_config": wire::json(&stored), "hidden": hidden });
    op.call("store", put(SERVICE, format!("/software_configs/{id}"), body)).await.map(drop)
}

/// Removes the configuration; somebody else may have done so.
pub(super) async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    op.remove("delete", delete(SERVICE, format!("/software_configs/{id}"))).await?;
    op.clear_id();
    Ok(())
}

/// A stored configuration, made by whomever, as it is told: with the names of its hidden parts.
pub(super) async fn whole(op: &mut Op, id: &str) -> Result<Json, OpError> {
    let call = get(SERVICE, format!("/software_configs/{}", wire::segment(id)));
    Ok(op.read(call).await?.body)
}

/// What a stored configuration, made by whomever, holds; nothing if there is none with this id.
pub(crate) async fn content(op: &mut Op, id: &str) -> Result<Option<Value>, OpError> {
    let reply = match op.read(get(SERVICE, format!("/software_configs/{id}"))).await {
        Ok(reply) => reply,
        Err(OpError::Failed(failure)) if failure.class == FailureClass::NotFound => {
            return Ok(None);
        }
        Err(stop) => return Err(stop),
    };
    let config = wire::value(&reply.body["software_config"]["config"]);
    let hidden = reply.body["hidden"].as_array();
    let is_hidden = hidden.is_some_and(|names| names.iter().any(|name| name == CONFIG));
    Ok(Some(if is_hidden { Value::Secret(Secret::new(config)) } else { config }))
}

/// The configuration that a resource keeps.
fn stored<'v>(view: &View<'v>) -> Option<&'v Members> {
    view.data.get(CONFIG)?.as_map()
}

/// Attributes of a configuration: what it is made of.
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

/// Keeps the properties `group` and `config` as they are.
pub(super) async fn as_written(op: &mut Op) -> Result<(), OpError> {
    let (group, config) = (op.prop("group").clone(), op.prop("config").clone());
    store(op, group, config).await
}
