//! Attaching volumes to servers, and detaching them. Both the compute and the volume service must report the
//! result before it is complete.

use crate::op::{FailureClass, Op, OpError, Progress};
use crate::rest;
use kiln_cloud::{Call, CallPath, Marker, Reply, Service, delete, get, post};
use serde_json::json;

/// The attachment of a volume to a server, with the device name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) server: String,
    pub(crate) volume: String,
    pub(crate) device: Option<String>,
}

fn attachments(place: &Attachment) -> CallPath {
    CallPath::from("/servers").id(&place.server).then("/os-volume_attachments")
}

fn attachment(place: &Attachment) -> Call {
    get(Service::Compute, attachments(place).id(&place.volume))
}

fn volume(place: &Attachment) -> Call {
    get(Service::Volume, CallPath::from("/volumes").id(&place.volume))
}

/// Finds an attachment by its volume: a server has a volume once at most.
pub(crate) fn marker(place: &Attachment) -> Marker {
    let path = attachments(place);
    Marker {
        list: get(Service::Compute, path.clone()),
        objects: "/volumeAttachments".into(),
        field: "/volumeId".into(),
        value: place.volume.as_str().into(),
        envelope: Some("volumeAttachment".into()),
        path,
        id: "/volumeId".into(),
    }
}

/// Creates the attachment that is the resource's object.
pub(crate) async fn attach_own(op: &mut Op, place: &Attachment) -> Result<(), OpError> {
    let made = begin(op, "attach", place).await?;
    let id = made.text("/volumeAttachment/id").unwrap_or(&place.volume).to_owned();
    op.set_id(id);
    until_attached(op, place).await
}

/// Attaches a volume, and waits until it is.
pub(crate) async fn attach(op: &mut Op, step: &str, place: &Attachment) -> Result<(), OpError> {
    begin(op, step, place).await?;
    until_attached(op, place).await
}

/// Sends the request. It is repeated after a conflict, which means that the volume or the server is busy.
async fn begin(op: &mut Op, step: &str, place: &Attachment) -> Result<Reply, OpError> {
    let mut body = json!({ "volumeId": place.volume });
    if let Some(device) = &place.device {
        body["device"] = device.as_str().into();
    }
    let body = json!({ "volumeAttachment": body });
    let call = post(Service::Compute, attachments(place), body).marker(marker(place));
    op.call_retrying_conflicts(step, call).await
}

async fn until_attached(op: &mut Op, place: &Attachment) -> Result<(), OpError> {
    let is_here = |reply: &Reply| is_attached(reply, place);
    op.until(volume(place), |reply| match reply.text("/volume/status") {
        Some("in-use") if is_here(reply) => Progress::Ready,
        Some("in-use" | "available" | "attaching" | "reserved") => Progress::NotYet,
        Some(status @ ("error" | "error_attaching")) => {
            Progress::Failed(format!("Went to status {status} due to \"Unknown\""))
        }
        status => {
            let status = status.unwrap_or("None");
            Progress::Unknown(format!(
                "Volume attachment failed - Unknown status {status} due to \"Unknown\""
            ))
        }
    })
    .await
    .map(drop)
}

/// Whether the volume service reports the attachment.
fn is_attached(reply: &Reply, place: &Attachment) -> bool {
    let all = reply.body["volume"]["attachments"].as_array().into_iter().flatten();
    all.into_iter().any(|it| it["server_id"] == place.server.as_str())
}

/// Detaches a volume, and waits until both services report it.
pub(crate) async fn detach(op: &mut Op, step: &str, place: &Attachment) -> Result<(), OpError> {
    let call = delete(Service::Compute, attachments(place).id(&place.volume));
    match op.call_retrying_conflicts(step, call).await {
        Err(OpError::Failed(it))
            if matches!(it.class, FailureClass::NotFound | FailureClass::BadRequest) => {}
        done => _ = done?,
    }
    rest::until_gone(op, volume(place), |reply| match reply.text("/volume/status") {
        _ if !is_attached(reply, place) => Progress::Ready,
        Some("in-use" | "detaching" | "reserved") => Progress::NotYet,
        _ => Progress::Ready,
    })
    .await?;
    rest::until_gone(op, attachment(place), |_| Progress::NotYet).await
}

/// Checks that the attachment exists.
pub(crate) async fn check(op: &mut Op, place: &Attachment) -> Result<(), OpError> {
    op.read(attachment(place)).await.map(drop)
}
