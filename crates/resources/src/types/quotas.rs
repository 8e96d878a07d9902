//! Quotas: the limits of a project, whichever service has them.
//!
//! There is no object: every project has limits. So a repeated call does no harm, and a deletion resets the limits
//! to the defaults of the service.

use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::open;
use crate::refusals;
use crate::wire;
use kiln_cloud::{Call, CallPath, delete, get, put};
use serde_json::{Map, Value as Json, json};

/// The path of the quotas in the compute and the volume service.
const PATH: &str = "/os-quota-sets";

/// The key around the limits in these services.
pub(crate) const ENVELOPE: &str = "quota_set";

/// Declares a limit; -1 means unlimited.
pub(crate) fn limit(name: &'static str, description: &'static str) -> Prop {
    prop(name, Int, description).updatable().min(-1)
}

/// The project that the limits apply to.
pub(crate) fn project_prop() -> Prop {
    prop("project", Str, "Name or ID of the project that the limits apply to.")
        .required()
        .is(PROJECT)
        .by_name()
}

/// Checks that there is at least one limit; zero is one.
pub(crate) fn check(properties: &Members) -> Result<(), PropertyError> {
    let limits = || properties.iter().filter(|(name, _)| &***name != "project");
    if limits().any(|(_, value)| !open(value).is_null()) {
        return Ok(());
    }
    let names: Vec<&str> = limits().map(|(name, _)| &**name).collect();
    Err(refusals::unspecified(&names))
}

/// The limits that the template has, as fields of a request.
pub(crate) fn limits(op: &Op) -> Map<String, Json> {
    let all = op.context().properties.iter();
    all.filter(|(name, value)| &***name != "project" && !open(value).is_null())
        .map(|(name, value)| (name.to_string(), wire::json(value)))
        .collect()
}

/// The entry of the resource's data with the id of the project: its name may be gone when the limits are reset.
const PROJECT_ID: &str = "project";

/// The id of the project.
pub(crate) fn project(op: &Op) -> String {
    let kept = op.data(PROJECT_ID).and_then(Value::as_text).map(|id| id.to_string());
    kept.unwrap_or_else(|| op.nonempty_text("project").unwrap_or_default().to_owned())
}

/// The call that sets the limits.
pub(crate) fn setting(op: &Op, service: Service) -> Call {
    put(service, path(op), json!({ ENVELOPE: limits(op) }))
}

/// The path of the project's limits.
pub(crate) fn path(op: &Op) -> CallPath {
    CallPath::from(PATH).id(project(op))
}

/// Sets the limits with a call. The resource's id is the name that an object would have.
pub(crate) async fn set(op: &mut Op, call: Call) -> Result<(), OpError> {
    let project = op.nonempty_text("project").unwrap_or_default().to_owned();
    op.set_data(PROJECT_ID, project);
    let reply = op.call("set", call).await?;
    let name = op.context().physical_name.clone();
    op.set_id(name);
    op.set_remote(wire::value(&reply.body[ENVELOPE]));
    Ok(())
}

/// Reads the limits.
pub(crate) async fn read(op: &mut Op, service: Service) -> Result<(), OpError> {
    let reply = op.read(get(service, path(op))).await?;
    op.set_remote(wire::value(reply.body.get(ENVELOPE).unwrap_or(&Json::Null)));
    Ok(())
}

/// Resets the limits to the defaults of the service.
pub(crate) async fn reset(op: &mut Op, service: Service) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    op.remove("reset", delete(service, path(op))).await?;
    op.clear_id();
    Ok(())
}

/// Whether a limit is smaller than what the project uses; -1 is unlimited.
pub(crate) fn is_below(limit: &Value, used: i64) -> bool {
    match open(limit) {
        Value::Int(number) => number.as_i64().is_some_and(|limit| limit >= 0 && limit < used),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_zero_is_a_limit() {
        let properties = |limit: Value| {
            let members = [("listener", limit), ("pool", Value::Null), ("project", "p".into())];
            members.map(|(name, value)| (name.into(), value)).into_iter().collect::<Members>()
        };
        assert!(check(&properties(0.into())).is_ok());
        let error = check(&properties(Value::Null)).expect_err("a refusal");
        let message = "At least one of the following properties must be specified: listener, pool.";
        assert_eq!(error.message, message);
    }
}
