//! AWS::EC2::Volume: a block storage volume, described in EC2 terms.

use super::{key_value, tags};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::types::cinder::volume::{calls, copies};
use crate::wire;
use kiln_cloud::{CallPath, Marker, get, post, put};
use serde_json::json;

pub(super) fn volume() -> ResourceType {
    ResourceType::new("AWS::EC2::Volume")
        .about("A block storage volume, described in EC2 terms.")
        .service(Service::Volume)
        .checkable()
        .snapshot_on_delete()
        .props([
            prop(
                "AvailabilityZone",
                Str,
                "Name of the availability zone in which the volume is made.",
            )
            .required()
            .immutable(),
            prop("Size", Int, "Size of the volume in GiB.").immutable().min(1),
            prop(
                "SnapshotId",
                Str,
                "ID of the volume backup that is restored into the new volume.",
            )
            .immutable()
            .is(VOLUME_BACKUP),
            prop("Tags", List, "Tags that the volume gets as metadata.")
                .immutable()
                .each(key_value()),
        ])
        .finder(marker)
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(calls::remove(op)))
        .on(OperationKind::Check, |op| Box::pin(calls::check(op)))
        .observes(&[], |op| Box::pin(calls::observe(op)))
        .copied(|op| Box::pin(copies::copy(op)), |op| Box::pin(copies::forget(op)))
}

fn marker(op: &Op) -> Option<Marker> {
    let name = op.context().physical_name.to_string();
    Some(Marker {
        list: get(Service::Volume, "/volumes").query("name", name.clone()),
        objects: "/volumes".into(),
        field: "/name".into(),
        value: name.into(),
        envelope: Some("volume".into()),
        path: "/volumes".into(),
        id: "/id".into(),
    })
}

/// Creates the volume. A snapshot in terms of EC2 is a backup in the volume service.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let name = op.context().physical_name.to_string();
    let call = match op.nonempty_text("SnapshotId") {
        Some(backup) => {
            let body = json!({ "restore": { "name": name } });
            post(Service::Volume, CallPath::from("/backups").id(backup).then("/restore"), body)
        }
        None => {
            let body = json!({ "volume": {
                "name": name,
                "description": name,
                "size": wire::json(op.prop("Size")),
                "availability_zone": op.nonempty_text("AvailabilityZone"),
                "metadata": tags(&op.context().properties),
            }});
            post(Service::Volume, "/volumes", body)
        }
    };
    let is_restored = op.nonempty_text("SnapshotId").is_some();
    let made = op.call("create", call).await?;
    let id = made.text("/volume/id").or_else(|| made.text("/restore/volume_id"));
    let Some(id) = id.map(str::to_owned) else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the service did not say which volume it made",
        ));
    };
    op.set_id(id);
    calls::until_available(op).await?;
    if is_restored {
        let body = json!({ "volume": { "description": name } });
        op.call("words", put(Service::Volume, calls::path(op), body)).await?;
        let body = json!({ "metadata": tags(&op.context().properties) });
        let path = calls::path(op).then("/metadata");
        op.call("tags", put(Service::Volume, path, body)).await?;
    }
    calls::check(op).await
}
