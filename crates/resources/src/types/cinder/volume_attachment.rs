//! OS::Cinder::VolumeAttachment: the attachment of a volume to a server.

use super::attaching;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::text;

pub(super) fn volume_attachment() -> ResourceType {
    ResourceType::new("OS::Cinder::VolumeAttachment")
        .about("The attachment of a volume to a server.")
        .service(Service::Volume)
        .props([
            prop("instance_uuid", Str, "ID of the server that the volume is attached to.").required().updatable(),
            prop("mountpoint", Str, "Device name under which the server sees the volume; the hypervisor may choose another.").updatable(),
            prop("volume_id", Str, "ID of the volume to attach.").required().updatable().is(VOLUME),
        ])
        .finder(|op| Some(attaching::marker(&place(&op.context().properties))))
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
}

fn place(properties: &Members) -> attaching::Attachment {
    let word = |name: &str| text(properties, name).map(str::to_owned);
    attaching::Attachment {
        server: word("instance_uuid").unwrap_or_default(),
        volume: word("volume_id").unwrap_or_default(),
        device: word("mountpoint").filter(|device| !device.is_empty()),
    }
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let place = place(&op.context().properties);
    attaching::attach_own(op, &place).await
}

/// Detaches and attaches again, because the service cannot change an attachment; the resource keeps its
/// identity.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let (old, new) = (place(&op.context().previous_properties), place(&op.context().properties));
    if old == new {
        return Ok(());
    }
    attaching::detach(op, "detach", &old).await?;
    if op.context().journal.step("attach").is_none() {
        op.clear_id();
    }
    attaching::attach_own(op, &new).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let place = place(&op.context().properties);
    attaching::detach(op, "delete", &place).await?;
    op.clear_id();
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let place = place(&op.context().properties);
    attaching::check(op, &place).await
}
