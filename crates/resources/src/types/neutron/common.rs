//! The common parts of network types: requests, agents, and associations of objects, which have no id in the
//! service.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{open, section};
use crate::rest::{self, Readiness, RestSpec};
use crate::wire;
use kiln_cloud::{CallPath, Marker, delete, get, post, put};
use serde_json::{Map as Fields, Value as Json, json};
use std::sync::Arc;

// --- objects of the network service ---

/// The property with fields for extensions, whose members are fields of the request.
pub(super) const VALUE_SPECS: &str = "value_specs";

/// Plain objects of the network service, which have a description.
pub(super) fn rest_spec(path: &'static str, one: &'static str) -> RestSpec {
    bare(path, one).mark_field("description")
}

/// Objects of the network service that have a description, and tags: those are set with a call of their own.
pub(super) fn tagged(path: &'static str, one: &'static str) -> RestSpec {
    rest_spec(path, one).unsent(["tags"]).after_write(|op| Box::pin(set_tags(op)))
}

/// Plain objects of the network service that have no description.
pub(super) fn bare(path: &'static str, one: &'static str) -> RestSpec {
    RestSpec::new(Service::Network, path, one).marks_then_renames().adjust_fields(adjust_fields)
}

/// Rules of a quality-of-service policy, whose paths are below that of the policy.
pub(super) fn qos_rule(path: &'static str, one: &'static str) -> RestSpec {
    bare(path, one).finds("policy", QOS_POLICY)
}

/// When objects with a status are ready.
pub(super) fn built() -> Readiness {
    Readiness::when("status", ["ACTIVE", "DOWN"], ["ERROR", "DEGRADED"])
        .degraded(["DEGRADED"])
        .waiting(["BUILD"])
        .words("", "Resource is not built")
}

/// When tap services and tap flows are ready.
pub(super) fn tapping() -> Readiness {
    Readiness::when("status", ["ACTIVE"], ["ERROR"])
}

/// Adds the members of `value_specs` as fields; an update has only those that changed.
pub(super) fn adjust_fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    if op.declares(VALUE_SPECS) {
        let sent = open(op.previous(VALUE_SPECS)).as_map();
        for (name, value) in op.section(VALUE_SPECS).into_iter().flatten() {
            let is_sent =
                sent.and_then(|sent| sent.get(name)).is_some_and(|sent| sent.equals(value));
            if !is_sent {
                fields.insert(name.to_string(), wire::json(value));
            }
        }
    }
    if operation == OperationKind::Update {
        reset(fields, "description", "");
    }
}

/// Sets the default of a field that an update removes, because the service accepts no null.
pub(super) fn reset(fields: &mut Fields<String, Json>, name: &str, value: impl Into<Json>) {
    if let Some(field) = fields.get_mut(name).filter(|field| field.is_null()) {
        *field = value.into();
    }
}

/// Leaves fields unchanged that an update removes, because the service accepts no null.
pub(super) fn keep(fields: &mut Fields<String, Json>, names: &[&str]) {
    fields.retain(|name, value| !(value.is_null() && names.contains(&name.as_str())));
}

/// Whether a property differs from its value before the update; on create, whether it has a value.
pub(crate) fn differs(op: &Op, name: &str) -> bool {
    !op.previous(name).equals(op.prop(name))
}

/// The path of the resource's object.
pub(super) fn object(op: &Op) -> CallPath {
    rest::own_path(op)
}

/// Sets the tags if they differ from those before the update.
pub(super) async fn set_tags(op: &mut Op) -> Result<(), OpError> {
    if differs(op, "tags") {
        let tags = match wire::json(op.prop("tags")) {
            Json::Null => json!([]),
            tags => tags,
        };
        let call = put(Service::Network, object(op).then("/tags"), json!({ "tags": tags }));
        op.call("tags", call).await?;
    }
    Ok(())
}

/// Checks that `value_specs` has no fields that are properties or determine the owner.
pub(super) fn further_fields(members: &Members) -> Result<(), PropertyError> {
    let names = section(members, VALUE_SPECS).into_iter().flat_map(Members::keys);
    let is_banned = |name: &&Arc<str>| {
        matches!(&***name, "shared" | "tenant_id") || members.contains_key(&***name)
    };
    let banned: Vec<&str> = names.filter(is_banned).map(|name| &**name).collect();
    if banned.is_empty() {
        Ok(())
    } else {
        Err(PropertyError::new(format!("{} not allowed in value_specs", banned.join(", "))))
    }
}

// --- agents ---

/// The agents that serve an object.
pub(super) struct Agents {
    /// The property with the ids of the agents.
    pub(super) property: &'static str,
    /// The collection of agents below an object's path.
    pub(super) listed: &'static str,
    /// The collection of objects below an agent's path.
    pub(super) served: &'static str,
    /// The field with the object's id in a request to that collection.
    pub(super) field: &'static str,
}

impl Agents {
    /// Assigns the object to the agents in the template, and removes it from all others.
    pub(super) async fn serve(&self, op: &mut Op) -> Result<(), OpError> {
        if !differs(op, self.property) || op.prop(self.property).is_null() {
            return Ok(());
        }
        let wanted = texts(op.prop(self.property));
        let list = get(Service::Network, object(op).then(self.listed));
        let there = ids(&op.read(list.clone()).await?.body["agents"]);
        let id = op.id().cloned().unwrap_or_default();
        for agent in there.iter().filter(|agent| !wanted.contains(agent)) {
            let path = CallPath::from("/agents").id(agent).then(self.served).id(&id);
            // An agent that does not exist, or does not serve the object, has been left.
            match op.remove(&format!("leave {agent}"), delete(Service::Network, path)).await {
                Err(stop) if stop.is_not_found() || stop.is_conflict() => {}
                left => left.map(drop)?,
            }
        }
        for agent in wanted.iter().filter(|agent| !there.contains(agent)) {
            let path = CallPath::from("/agents").id(agent).then(self.served);
            let call = post(Service::Network, path, json!({ self.field: &*id }));
            let call = call.marker(Marker {
                list: list.clone(),
                objects: "/agents".into(),
                field: "/id".into(),
                value: agent.as_str().into(),
                envelope: None,
                path: "".into(),
                id: "/id".into(),
            });
            match op.call(&format!("join {agent}"), call).await {
                // It serves the object already.
                Err(stop) if stop.is_conflict() => {}
                joined => joined.map(drop)?,
            }
        }
        Ok(())
    }
}

/// The ids of objects in a list.
fn ids(list: &Json) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|object| object["id"].as_str()).map(Into::into).collect()
}

/// The texts in a list.
pub(super) fn texts(list: &Value) -> Vec<String> {
    let all = open(list).as_list().unwrap_or_default();
    all.iter().filter_map(|item| open(item).as_text()).map(|text| text.to_string()).collect()
}

// --- associations of objects, which have no id in the service ---

/// The entry of the resource's data with the id of an association that may or may not exist.
const TYING: &str = "tying";

/// Creates an association with a call, and gives it an id. The service refuses an association that exists
/// already, and the resource does not take it over.
pub(super) async fn tie(op: &mut Op, id: &str, call: kiln_cloud::Call) -> Result<(), OpError> {
    if op.id().is_some() {
        return Ok(());
    }
    op.set_data(TYING, id);
    let tied = op.add("tie", call).await;
    if tied.is_ok() {
        op.set_id(id);
    }
    if tied.is_ok() || !op.may_be_done("tie") {
        op.set_data(TYING, Value::Null);
    }
    tied.map(drop)
}

/// The id of an association that exists or may exist. In the second case a lost call first gets time to take
/// effect, so that it can be undone.
pub(super) async fn tied(op: &mut Op) -> Result<Option<Arc<str>>, OpError> {
    if let Some(id) = op.id() {
        return Ok(Some(id.clone()));
    }
    let Some(id) = op.data(TYING).and_then(|id| id.as_text().cloned()) else { return Ok(None) };
    op.wait("tying", op.context().lost_call_window).await?;
    Ok(Some(id))
}

/// Records that the association does not exist any more.
pub(super) fn untied(op: &mut Op) {
    op.set_data(TYING, Value::Null);
    op.clear_id();
}
