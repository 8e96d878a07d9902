//! Creating a volume: empty, from an image, snapshot or volume, or from a backup.

use super::calls::{path, until_available};
use crate::declare::{IMAGE, Service, Value};
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};
use crate::rest::{self, RestSpec};
use crate::wire;
use kiln_cloud::{CallPath, Reply, post, put};
use serde_json::{Value as Json, json};
use std::sync::Arc;

pub(super) async fn create(op: &mut Op) -> Result<(), OpError> {
    match op.nonempty_text("backup_id").map(str::to_owned) {
        Some(backup) => from_backup(op, &backup).await?,
        None => anew(op).await?,
    }
    until_available(op).await?;
    rest::unmark(op).await?;
    if !op.prop("read_only").is_null() {
        super::calls::set_read_only(op).await?;
    }
    rest::until_ready(op).await
}

fn rest_spec(op: &Op) -> Result<Arc<RestSpec>, OpError> {
    op.rest_spec()
        .ok_or_else(|| OpError::failed(FailureClass::InternalError, "a volume is a plain object"))
}

fn keep_id(op: &mut Op, made: &Reply) -> Result<(), OpError> {
    let id = made.text("/volume/id").or_else(|| made.text("/restore/volume_id"));
    let Some(id) = id.map(Arc::<str>::from) else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the service did not say which volume it made",
        ));
    };
    op.set_id(id);
    Ok(())
}

async fn anew(op: &mut Op) -> Result<(), OpError> {
    let spec = rest_spec(op)?;
    let mut fields = rest::new_fields(op, &spec);
    if let Some(image) = op.nonempty_text("image").map(str::to_owned) {
        let image = lookup::find_id(op, IMAGE, &image).await?;
        fields.insert("imageRef".into(), (*image).into());
    }
    if op.prop("multiattach").equals(&Value::Bool(true)) {
        fields.insert("multiattach".into(), true.into());
    }
    let mut body = json!({ "volume": fields });
    if let Some(hints) = op.section("scheduler_hints") {
        body["OS-SCH-HNT:scheduler_hints"] = wire::json(&Value::Map(Arc::new(hints.clone())));
    }
    let made = op.call("create", post(Service::Volume, "/volumes", body)).await?;
    keep_id(op, &made)
}

/// Restores a backup into a new volume with the physical name, by which the volume is found after a lost reply.
async fn from_backup(op: &mut Op, backup: &str) -> Result<(), OpError> {
    let spec = rest_spec(op)?;
    let fields = rest::new_fields(op, &spec);
    let name = fields.get("name").cloned().unwrap_or(Json::Null);
    let body = json!({ "restore": { "name": name } });
    let call = post(Service::Volume, CallPath::from("/backups").id(backup).then("/restore"), body);
    let call = match rest::marker(op) {
        Some(mut marker) => {
            // The new volume has only the name as a mark.
            marker.list.request.query =
                vec![("name".into(), name.as_str().unwrap_or_default().into())];
            (marker.field, marker.value) = ("/name".into(), name);
            call.marker(marker)
        }
        None => call,
    };
    let made = op.call("restore", call).await?;
    keep_id(op, &made)?;
    until_available(op).await?;
    // The service has written a description of its own.
    let description = fields.get("description").cloned().unwrap_or_default();
    let mut words = json!({ "description": description });
    if let Some(metadata) = fields.get("metadata") {
        words["metadata"] = metadata.clone();
    }
    let body = json!({ "volume": words });
    op.call("rename", put(Service::Volume, path(op), body)).await.map(drop)
}
