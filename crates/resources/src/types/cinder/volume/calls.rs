//! Calls for a volume that several operations need: polling, checking, deleting.

use crate::declare::Service;
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::rest;
use crate::wire;
use kiln_cloud::{Call, CallPath, Marker, Reply, delete, get, post};
use serde_json::{Value as Json, json};

/// The path of the resource's volume.
pub(crate) fn path(op: &Op) -> CallPath {
    CallPath::from("/volumes").id(op.id().map_or("", |id| id))
}

/// The call that reads the resource's volume.
pub(crate) fn look(op: &Op) -> Call {
    get(Service::Volume, path(op))
}

/// The call for an action on the volume, which can be repeated.
pub(super) fn action(op: &Op, body: Json) -> Call {
    post(Service::Volume, path(op).then("/action"), body).may_be_repeated()
}

/// The status of a volume.
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

/// A marker that lists the volumes in creation: many resources poll one list instead of their own volumes.
fn being_made(op: &Op) -> Marker {
    Marker {
        list: get(Service::Volume, "/volumes/detail").query("status", "creating"),
        objects: "/volumes".into(),
        field: "/id".into(),
        value: op.id().map_or("", |id| id).into(),
        envelope: Some("volume".into()),
        path: "/volumes".into(),
        id: "/id".into(),
    }
}

/// Waits until no action on the volume is in progress, whether it is attached or not.
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

/// Sets whether the volume is read-only.
pub(super) async fn set_read_only(op: &mut Op) -> Result<(), OpError> {
    let flag = wire::json(op.prop("read_only"));
    let call = action(op, json!({ "os-update_readonly_flag": { "readonly": flag } }));
    op.call("read only", call).await.map(drop)
}

/// Checks that the volume exists and is healthy.
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

/// Reads the volume, to see whether it is healthy.
pub(crate) async fn observe(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let reply = op.read(look(op)).await?;
    op.set_remote(wire::value(&reply.body["volume"]));
    match status(&reply) {
        "deleting" => Err(OpError::failed(FailureClass::NotFound, "the volume is being deleted")),
        "error" => Err(OpError::broken("Went to status error due to \"Unknown\"")),
        _ => Ok(()),
    }
}

/// Deletes the volume, and waits until it does not exist any more.
pub(crate) async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let call = look(op);
    // A volume that is being made or detached can be deleted soon; before that, the service refuses.
    let now = op
        .until_answered(call.clone(), |reply| match status(reply) {
            "creating" | "downloading" | "restoring-backup" | "detaching" | "backing-up" => {
                Progress::NotYet
            }
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
