//! What every volume goes through: waiting, looking, being removed.

use crate::declare::Service;
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::rest;
use crate::wire;
use kiln_cloud::{Call, Marker, Reply, delete, get, post};
use serde_json::{Value as Json, json};

/// The path of the resource's volume.
pub(crate) fn path(op: &Op) -> String {
    format!("/volumes/{}", op.id().map_or("", |id| id))
}

/// Shows the resource's volume.
pub(crate) fn look(op: &Op) -> Call {
    get(Service::Volume, path(op))
}

/// Has something done with the volume. It may be asked for twice.
pub(super) fn action(op: &Op, body: Json) -> Call {
    post(Service::Volume, format!("{}/action", path(op)), body).may_be_repeated()
}

/// The state of a volume.
pub(super) fn status(reply: &Reply) -> &str {
    reply.text("/volume/status").unwrap_or_default()
}

/// Waits until a new volume can be used.
pub(crate) async fn until_available(op: &mut Op) -> Result<Reply, OpError> {
    let call = look(op).among(being_made(op));
    op.until(call, |reply| match status(reply) {
        "available" => Progress::Ready,
        "creating" | "restoring-backup" | "downloading" => Progress::NotYet,
        status @ ("error" | "error_restoring") => {
            Progress::Failed(format!("Went to status {status} due to \"Unknown\""))
        }
        status => Progress::Unknown(format!(
            "Volume creation failed - Unknown status {status} due to \"Unknown\""
        )),
    })
    .await
}

/// The volumes that are being made, the resource's among them as long as it is.
fn being_made(op: &Op) -> Marker {
    Marker {
        list: get(Service::Volume, "/volumes/detail").query("status", "creating"),
        objects: "/volumes".into(),
        field: "/id".into(),
        value: op.id().map_or("", |id| id).into(),
        envelope: Some("volume".into()),
        path: "/volumes/".into(),
        id: "/id".into(),
    }
}

/// Waits until the volume is left alone again, attached or not.
pub(super) async fn until_at_rest(op: &mut Op) -> Result<Reply, OpError> {
    let call = look(op);
    op.until(call, |reply| match status(reply) {
        "available" | "in-use" => Progress::Ready,
        status if status.starts_with("error") => {
            Progress::Failed(format!("Went to status {status} due to \"Unknown\""))
        }
        _ => Progress::NotYet,
    })
    .await
}

/// Says whether the volume may be written to.
pub(super) async fn set_read_only(op: &mut Op) -> Result<(), OpError> {
    let flag = wire::json(op.prop("read_only"));
    let call = action(op, json!({ "os-update_readonly_flag": { "readonly": flag } }));
    op.call("read only", call).await.map(drop)
}

/// Looks whether the volume is well.
pub(crate) async fn check(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let reply = op.read(look(op)).await?;
    op.set_remote(wire::value(&reply.body["volume"]));
    match status(&reply) {
        "available" | "in-use" => Ok(()),
        status => {
            let message = format!("'status': expected '['available', 'in-use']', got '{status}'");
            Err(OpError::failed(FailureClass::Error, message))
        }
    }
}

/// Removes the volume, and waits until it is gone.
pub(crate) async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let call = look(op);
    // One that is being detached can go soon.
    let now = op
        .until_answered(call.clone(), |reply| match status(reply) {
            "detaching" | "backing-up" => Progress::NotYet,
            _ => Progress::Ready,
        })
        .await?;
    if status(&now) == "in-use" {
        return Err(OpError::failed(FailureClass::Error, "Volume in use"));
    }
    if now.status != 404 {
        op.remove("delete", delete(Service::Volume, path(op))).await?;
        rest::until_gone(op, call, |reply| match status(reply) {
            "error_deleting" => {
                Progress::Failed("Went to status error_deleting due to \"Unknown\"".into())
            }
            _ => Progress::NotYet,
        })
        .await?;
    }
    op.clear_id();
    Ok(())
}
