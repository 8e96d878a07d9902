//! OS::Cinder::VolumeAttachment: the attachment of a volume to a server.

use super::attaching;
use crate::behaviour::Verb;
use crate::declare::*;
use crate::given::text;
use crate::op::{Op, Stop};

pub(super) fn volume_attachment() -> ResourceType {
    ResourceType::new("OS::Cinder::VolumeAttachment")
        .about("The attachment of a volume to a server.")
        .service(Service::Volume)
        .props([
            prop("instance_uuid", Str).required().updatable(),
            prop("mountpoint", Str).updatable(),
            prop("volume_id", Str).required().updatable().is("cinder.volume"),
        ])
        .found_by(|op| Some(attaching::marker(&place(&op.context().properties))))
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(Verb::Check, |op| Box::pin(check(op)))
}

fn place(properties: &Members) -> attaching::Place {
    let word = |name: &str| text(properties, name).map(str::to_owned);
    attaching::Place {
        server: word("instance_uuid").unwrap_or_default(),
        volume: word("volume_id").unwrap_or_default(),
        device: word("mountpoint").filter(|device| !device.is_empty()),
    }
}

async fn create(op: &mut Op) -> Result<(), Stop> {
    let place = place(&op.context().properties);
    attaching::attach_own(op, &place).await
}

/// An attachment cannot be changed: it is made anew, and its resource stays.
async fn update(op: &mut Op) -> Result<(), Stop> {
    let (old, new) = (place(&op.context().before), place(&op.context().properties));
    if old == new {
        return Ok(());
    }
    attaching::detach(op, "detach", &old).await?;
    if op.context().journal.step("attach").is_none() {
        op.clear_id();
    }
    attaching::attach_own(op, &new).await
}

async fn remove(op: &mut Op) -> Result<(), Stop> {
    if op.id().is_none() {
        return Ok(());
    }
    let place = place(&op.context().properties);
    attaching::detach(op, "delete", &place).await?;
    op.clear_id();
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), Stop> {
    let place = place(&op.context().properties);
    attaching::check(op, &place).await
}
