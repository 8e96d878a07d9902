//! AWS::EC2::VolumeAttachment: the attachment of a volume to a server as a device.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::types::cinder::attaching::{self, Attachment};

pub(super) fn volume_attachment() -> ResourceType {
    ResourceType::new("AWS::EC2::VolumeAttachment")
        .about("The attachment of a volume to a server as a device.")
        .service(Service::Volume)
        .props([
            prop("Device", Str, "Device name under which the server sees the volume, from `/dev/vdb` to `/dev/vdz`.").required().immutable().pattern("/dev/vd[b-z]"),
            prop("InstanceId", Str, "ID of the server that the volume is attached to.").required().immutable().is(SERVER),
            prop("VolumeId", Str, "ID of the volume to attach.").required().immutable().is(VOLUME),
        ])
        .finder(|op| Some(attaching::marker(&place(op))))
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
}

fn place(op: &Op) -> Attachment {
    let word = |name: &str| op.text(name).map(str::to_owned);
    Attachment {
        server: word("InstanceId").unwrap_or_default(),
        volume: word("VolumeId").unwrap_or_default(),
        device: word("Device"),
    }
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let place = place(op);
    attaching::attach_own(op, &place).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let place = place(op);
    attaching::detach(op, "delete", &place).await?;
    op.clear_id();
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let place = place(op);
    attaching::check(op, &place).await
}
