//! OS::Cinder::QoSSpecs: a set of quality-of-service values for volumes.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{open, section};
use crate::rest::{self, RestSpec, UpdateMethod};
use kiln_cloud::{CallPath, Marker, get, put};
use kiln_template::print;
use serde_json::{Map, Value as Json, json};

pub(super) fn qos_specs() -> ResourceType {
    ResourceType::new("OS::Cinder::QoSSpecs")
        .about("A set of quality-of-service values for volumes.")
        .service(Service::Volume)
        .extension("qos-specs")
        .entity("qos_specs")
        .since("7.0.0")
        .props([
            prop(
                "name",
                Str,
                "Name of the specification; made from the stack and resource names if omitted.",
            ),
            prop(
                "specs",
                Map,
                "Quality-of-service values, such as `read_iops_sec`, and their `consumer`.",
            )
            .required()
            .updatable(),
        ])
        .finder(marker)
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            RestSpec::new(Service::Volume, "/qos-specs", "qos_specs")
                .list_envelope("qos_specs")
                .unsent(["specs"])
                .update_method(UpdateMethod::Never)
                .deleted_at_once()
                .adjust_fields(adjust_fields),
        )
}

/// Finds the specifications by their name in the whole list, which the service cannot filter.
fn marker(op: &Op) -> Option<Marker> {
    let mut marker = rest::marker(op)?;
    marker.list.request.query.clear();
    Some(marker)
}

fn specs(members: &Members) -> Map<String, Json> {
    let specs = section(members, "specs").into_iter().flatten();
    specs.map(|(key, value)| (key.to_string(), print::plain(open(value)).into())).collect()
}

/// Puts the specifications beside the name, where the service expects them.
fn adjust_fields(op: &Op, _: OperationKind, fields: &mut Map<String, Json>) {
    fields.extend(specs(&op.context().properties));
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/qos-specs").id(op.id().map_or("", |id| id))
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let (old, new) = (specs(&op.context().previous_properties), specs(&op.context().properties));
    let gone: Vec<&String> = old.keys().filter(|key| !new.contains_key(*key)).collect();
    if !gone.is_empty() {
        let call = put(Service::Volume, path(op).then("/delete_keys"), json!({ "keys": gone }));
        match op.call("unset", call).await {
            // An interrupted attempt removed the keys.
            Err(stop) if is_refused(&stop) => {}
            done => _ = done?,
        }
    }
    if !new.is_empty() && old != new {
        op.call("set", put(Service::Volume, path(op), json!({ "qos_specs": new }))).await?;
    }
    rest::until_ready(op).await
}

fn is_refused(stop: &OpError) -> bool {
    matches!(stop, OpError::Failed(it) if matches!(it.class, FailureClass::BadRequest | FailureClass::NotFound))
}

/// Removes the associations with volume types first, because the service refuses to delete specifications in
/// use.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        let call = get(Service::Volume, path(op).then("/disassociate_all"));
        op.remove("disassociate", call).await?;
    }
    rest::remove(op).await
}
