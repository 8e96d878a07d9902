//! What the limits of projects have in common, whichever service has them.
//!
//! There is no object: a project has limits in any case. Setting them twice does no harm, and removing them
//! makes them what they are by default.

use crate::declare::{Members, PropertyError, Service, Value};
use crate::op::{Op, OpError};
use crate::property_access::open;
use crate::wire;
use kiln_cloud::{Call, delete, get, put};
use serde_json::{Map, Value as Json, json};

/// At least one limit must be given.
pub(crate) fn check(properties: &Members) -> Result<(), PropertyError> {
    let mut limits = properties.iter().filter(|(name, _)| &***name != "project");
    if limits.any(|(_, value)| !value.is_null()) {
        Ok(())
    } else {
        let names: Vec<&str> =
            properties.keys().map(|name| &**name).filter(|name| *name != "project").collect();
        let names = names.join(", ");
        let message =
            format!("At least one of the following properties must be specified: {names}.");
        Err(PropertyError::new(message))
    }
}

/// The limits that are given.
pub(crate) fn limits(op: &Op) -> Map<String, Json> {
    let all = op.context().properties.iter();
    all.filter(|(name, value)| &***name != "project" && !open(value).is_null())
        .map(|(name, value)| (name.to_string(), wire::json(value)))
        .collect()
}

/// Where the id of the project is kept: only those who set limits know it for a name.
const PROJECT: &str = "project";

/// The project that the limits are of.
pub(crate) fn project(op: &Op) -> String {
    let kept = op.data(PROJECT).and_then(Value::as_text).map(|id| id.to_string());
    kept.unwrap_or_else(|| op.nonempty_text("project").unwrap_or_default().to_owned())
}

/// The call that sets the limits.
pub(crate) fn setting(op: &Op, service: Service, path: &str, envelope: &str) -> Call {
    put(service, format!("{path}/{}", project(op)), json!({ envelope: limits(op) }))
}

/// Sets the limits. The resource has the name that an object would have.
pub(crate) async fn set(op: &mut Op, call: Call, envelope: &str) -> Result<(), OpError> {
    let project = op.nonempty_text("project").unwrap_or_default().to_owned();
    op.set_data(PROJECT, project);
    let reply = op.call("set", call).await?;
    let name = op.context().physical_name.clone();
    op.set_id(name);
    op.set_remote(wire::value(&reply.body[envelope]));
    Ok(())
}

/// Looks whether the limits can be seen, and keeps them.
pub(crate) async fn look(
    op: &mut Op,
    service: Service,
    path: &str,
    envelope: &str,
) -> Result<(), OpError> {
    let reply = op.read(get(service, format!("{path}/{}", project(op)))).await?;
    op.set_remote(wire::value(reply.body.get(envelope).unwrap_or(&Json::Null)));
    Ok(())
}

/// Makes the limits what they are by default.
pub(crate) async fn reset(op: &mut Op, service: Service, path: &str) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    op.remove("reset", delete(service, format!("{path}/{}", project(op)))).await?;
    op.clear_id();
    Ok(())
}

/// Whether a value is a limit that is smaller than something.
pub(crate) fn is_below(limit: &Value, used: i64) -> bool {
    match open(limit) {
        Value::Int(number) => number.as_i64().is_some_and(|limit| limit >= 0 && limit < used),
        _ => false,
    }
}
