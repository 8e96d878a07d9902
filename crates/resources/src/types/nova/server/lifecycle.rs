//! The other operations on a server: check, suspend, resume, snapshot and delete.

use super::look::{self, action, fault, look, path, status, task, until_is};
use super::networks;
use crate::behaviour::SnapshotRecord;
use crate::declare::Members;
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::rest;
use crate::types::heat::collecting;
use kiln_cloud::{CallPath, Marker, Reply, Service, delete, get};
use serde_json::json;

/// Checks that the server is active.
pub(crate) async fn check(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let shown = look::show(op).await?;
    match status(&shown) {
        "ACTIVE" => Ok(()),
        status => {
            let message = format!("'status': expected 'ACTIVE', got '{status}'");
            Err(OpError::failed(FailureClass::Error, message))
        }
    }
}

/// Suspends the server.
pub(crate) async fn suspend(op: &mut Op) -> Result<(), OpError> {
    bring_to(op, "suspend", "SUSPENDED").await
}

/// Resumes the server.
pub(crate) async fn resume(op: &mut Op) -> Result<(), OpError> {
    bring_to(op, "resume", "ACTIVE").await
}

async fn bring_to(op: &mut Op, operation: &str, wanted: &str) -> Result<(), OpError> {
    if op.id().is_none() {
        return Err(OpError::failed(
            FailureClass::Error,
            format!("Cannot {operation} the server: there is none"),
        ));
    }
    let now = op.read(look(op)).await?;
    let is_under_way = match operation {
        "suspend" => task(&now) == Some("suspending"),
        _ => task(&now) == Some("resuming"),
    };
    if status(&now) != wanted && !is_under_way {
        let call = action(op, json!({ operation: null }));
        op.call(operation, call).await?;
    }
    until_is(op, wanted).await?;
    look::show(op).await.map(drop)
}

/// Deletes the server, and then its internal ports.
pub(crate) async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        op.remove("delete", delete(Service::Compute, path(op))).await?;
        until_gone(op).await?;
        op.clear_id();
    }
    networks::remove_ports(op).await?;
    collecting::remove(op).await
}

/// Waits until a deleted server does not exist any more.
async fn until_gone(op: &mut Op) -> Result<(), OpError> {
    let call = look(op);
    let reply = loop {
        let gone = op.until_answered(call.clone(), |reply| match status(reply) {
            _ if reply.status == 404 => Progress::Ready,
            "DELETED" | "SOFT_DELETED" => Progress::Ready,
            "ERROR" if task(reply) != Some("deleting") => Progress::Failed(failed_to_go(reply)),
            _ => Progress::NotYet,
        });
        match gone.await {
            Err(OpError::Failed(it))
                if matches!(it.class, FailureClass::HttpError | FailureClass::OverLimit) => {}
            other => break other?,
        }
        op.pause(std::time::Duration::from_secs(5)).await?;
    };
    if status(&reply) == "SOFT_DELETED" {
        let call = action(op, json!({ "forceDelete": null }));
        op.remove("force", call).await?;
        let call = look(op);
        rest::until_gone(op, call, |reply| match status(reply) {
            "DELETED" => Progress::Ready,
            _ => Progress::NotYet,
        })
        .await?;
    }
    Ok(())
}

fn failed_to_go(reply: &Reply) -> String {
    let (message, code) = fault(reply);
    let name = reply.text("/server/name").unwrap_or_default();
    format!("Went to status ERROR due to \"Server {name} delete failed: ({code}) {message}\"")
}

// --- snapshots ---

/// The entry of the resource's data with the id of the server's image.
pub(super) const COPY: &str = "snapshot_image_id";

fn images(op: &Op) -> Marker {
    Marker {
        list: get(Service::Image, "/images").query("name", op.copy_name()),
        objects: "/images".into(),
        field: "/name".into(),
        value: op.copy_name().into(),
        envelope: None,
        path: "/images".into(),
        id: "/id".into(),
    }
}

/// Creates an image of the server.
pub(super) async fn copy(op: &mut Op) -> Result<(), OpError> {
    let marker = images(op);
    let mut call = action(op, json!({ "createImage": { "name": op.copy_name() } }));
    call.recovery.is_repeatable = false;
    let image = op.copy("image", call.marker(marker), "/image_id").await?;
    op.set_data(COPY, &*image);
    op.until(get(Service::Image, CallPath::from("/images").id(image)), |reply| {
        match reply.text("/status") {
            Some("active") => Progress::Ready,
            Some(status @ ("killed" | "deleted" | "error" | "pending_delete")) => {
                Progress::Failed(format!("Went to status {status} due to \"Unknown\""))
            }
            _ => Progress::NotYet,
        }
    })
    .await?;
    let call = look(op);
    look::until(op, call, |reply| match task(reply) {
        Some(task) if task.starts_with("image_") => Progress::NotYet,
        _ => Progress::Ready,
    })
    .await
    .map(drop)
}

/// Deletes the images of the server.
pub(super) async fn forget(op: &mut Op) -> Result<(), OpError> {
    let marker = images(op);
    op.remove_copies(&marker).await
}

/// Restores a server to a snapshot: its new definition has the image.
pub(super) fn restore(properties: &mut Members, saved: &SnapshotRecord<'_>) {
    if let Some(image) = saved.data.get(COPY) {
        properties.insert("image".into(), image.clone());
    }
}
