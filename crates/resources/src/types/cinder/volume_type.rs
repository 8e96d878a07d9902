//! OS::Cinder::VolumeType: a kind of volume that users can choose, with the specifications behind
//! it.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, section};
use crate::rest::{self, RestSpec};
use kiln_cloud::{CallPath, Marker, delete, post};
use kiln_template::print;
use serde_json::{Map, Value as Json, json};

pub(super) fn volume_type() -> ResourceType {
    ResourceType::new("OS::Cinder::VolumeType")
        .about("A kind of volume that users can choose, with the specifications behind it.")
        .service(Service::Volume)
        .extension("os-types-manage")
        .entity("volume_types")
        .detects_drift()
        .since("2015.1")
        .props([
            prop("description", Str, "Free text that describes the volume type.").updatable().since("5.0.0"),
            prop("is_public", Bool, "Whether all projects may use the volume type.").updatable().default(true).since("5.0.0"),
            prop("metadata", Map, "Extra specifications that choose a storage back end, such as `volume_backend_name`.").updatable(),
            prop("name", Str, "Name of the volume type, unique in the cloud.").required().updatable(),
            prop("projects", List, "Names or IDs of the projects that may use a volume type that is not public.")
                .updatable()
                .default_empty()
                .since("5.0.0")
                .each(item(Str).is(PROJECT)),
        ])
        .check(check)
        .finder(marker)
        .rest(
            RestSpec::new(Service::Volume, "/types", "volume_type")
                .unsent(["metadata", "projects"])
                .marks_then_renames()
                .deleted_at_once()
                .adjust_fields(adjust_fields)
                .after_write(|op| Box::pin(afterwards(op))),
        )
}

/// Refuses a list of projects for a public type, which all projects can use.
fn check(properties: &Members) -> Result<(), PropertyError> {
    let is_public = properties.get("is_public").is_some_and(|it| it.equals(&Value::Bool(true)));
    if is_public && !items(properties, "projects").is_empty() {
        let message = "Can not specify property \"projects\" if the volume type is public.";
        return Err(PropertyError::new(message));
    }
    Ok(())
}

/// Finds the type among public and private ones; the service lists private types only on request.
fn marker(op: &Op) -> Option<Marker> {
    let mut marker = rest::marker(op)?;
    marker.list.request.query = vec![("is_public".into(), "None".into())];
    Some(marker)
}

/// Renames the field for visibility: create and update requests have different names for it.
fn adjust_fields(_: &Op, operation: OperationKind, fields: &mut Map<String, Json>) {
    if operation == OperationKind::Create
        && let Some(is_public) = fields.remove("is_public")
    {
        fields.insert("os-volume-type-access:is_public".into(), is_public);
    }
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/types").id(op.id().map_or("", |id| id))
}

async fn afterwards(op: &mut Op) -> Result<(), OpError> {
    set_specs(op).await?;
    if !op.prop("is_public").equals(&Value::Bool(true)) {
        set_projects(op).await?;
    }
    Ok(())
}

async fn set_specs(op: &mut Op) -> Result<(), OpError> {
    let context = op.context().clone();
    let (empty, path) = (Members::new(), path(op).then("/extra_specs"));
    let old = section(&context.previous_properties, "metadata").unwrap_or(&empty);
    let new = section(&context.properties, "metadata").unwrap_or(&empty);
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        let call = delete(Service::Volume, path.clone().id(key));
        op.remove(&format!("unset {key}"), call).await?;
    }
    if !new.is_empty() && old != new {
        let specs =
            new.iter().map(|(key, value)| (key.to_string(), print::plain(open(value)).into()));
        let body = json!({ "extra_specs": Json::Object(specs.collect()) });
        op.call("specs", post(Service::Volume, path, body).may_be_repeated()).await?;
    }
    Ok(())
}

async fn set_projects(op: &mut Op) -> Result<(), OpError> {
    let names = |members: &Members| -> Vec<String> {
        items(members, "projects").iter().map(|it| print::plain(open(it))).collect()
    };
    let (old, new) = (names(&op.context().previous_properties), names(&op.context().properties));
    let action = path(op).then("/action");
    for project in old.iter().filter(|project| !new.contains(project)) {
        let project = crate::lookup::find_id(op, PROJECT, project).await?;
        let body = json!({ "removeProjectAccess": { "project": &*project } });
        let call = post(Service::Volume, action.clone(), body).may_be_repeated();
        op.remove(&format!("refuse {project}"), call).await?;
    }
    for project in new.iter().filter(|project| !old.contains(project)) {
        let project = crate::lookup::find_id(op, PROJECT, project).await?;
        let body = json!({ "addProjectAccess": { "project": &*project } });
        let call = post(Service::Volume, action.clone(), body).may_be_repeated();
        match op.call(&format!("admit {project}"), call).await {
            // The project has access already.
            Err(stop) if stop.is_conflict() => {}
            done => _ = done?,
        }
    }
    Ok(())
}
