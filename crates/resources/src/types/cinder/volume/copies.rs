//! Backups of a volume, for a snapshot of its stack or before a deletion.

use crate::declare::Service;
use crate::op::{Op, OpError, Progress};
use kiln_cloud::{CallPath, Marker, get, post};
use serde_json::json;

/// The entry of the resource's data with the id of the backup.
pub(super) const COPY: &str = "backup_id";

fn backups(op: &Op) -> Marker {
    Marker {
        list: get(Service::Volume, "/backups").query("name", op.copy_name()),
        objects: "/backups".into(),
        field: "/name".into(),
        value: op.copy_name().into(),
        envelope: Some("backup".into()),
        path: "/backups".into(),
        id: "/id".into(),
    }
}

/// Creates a backup of the volume, even while the volume is in use.
pub(crate) async fn copy(op: &mut Op) -> Result<(), OpError> {
    let body = json!({ "backup": {
        "volume_id": op.id().map_or("", |id| id),
        "name": op.copy_name(),
        "force": true,
    }});
    let call = post(Service::Volume, "/backups", body).marker(backups(op));
    let id = op.copy("backup", call, "/backup/id").await?;
    op.set_data(COPY, &*id);
    let look = get(Service::Volume, CallPath::from("/backups").id(id));
    op.until(look, |reply| match reply.text("/backup/status") {
        Some("available") => Progress::Ready,
        Some("error") => {
            let why = reply.text("/backup/fail_reason").unwrap_or("Unknown");
            Progress::Failed(format!("Went to status error due to \"{why}\""))
        }
        _ => Progress::NotYet,
    })
    .await
    .map(drop)
}

/// Deletes the backups of the volume.
pub(crate) async fn forget(op: &mut Op) -> Result<(), OpError> {
    let marker = backups(op);
    op.remove_copies(&marker).await
}
