//! AWS::EC2::VolumeAttachment: the attachment of a volume to a server as a device.

use crate::behaviour::Verb;
use crate::declare::*;
use crate::given::text;
use crate::op::{Op, Stop};
use crate::types::cinder::attaching::{self, Place};

pub(super) fn volume_attachment() -> ResourceType {
    ResourceType::new("AWS::EC2::VolumeAttachment")
        .about("The attachment of a volume to a server as a device.")
        .service(Service::Volume)
        .props([
            prop("Device", Str).required().immutable().pattern("/dev/vd[b-z]"),
            prop("InstanceId", Str).required().immutable().is("nova.server"),
            prop("VolumeId", Str).required().immutable().is("cinder.volume"),
        ])
        .found_by(|op| Some(attaching::marker(&place(op))))
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(Verb::Check, |op| Box::pin(check(op)))
}

fn place(op: &Op) -> Place {
    let word = |name: &str| text(&op.context().properties, name).map(str::to_owned);
    Place {
        server: word("InstanceId").unwrap_or_default(),
        volume: word("VolumeId").unwrap_or_default(),
        device: word("Device"),
    }
}

async fn create(op: &mut Op) -> Result<(), Stop> {
    let place = place(op);
    attaching::attach_own(op, &place).await
}

async fn remove(op: &mut Op) -> Result<(), Stop> {
    if op.id().is_none() {
        return Ok(());
    }
    let place = place(op);
    attaching::detach(op, "delete", &place).await?;
    op.clear_id();
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), Stop> {
    let place = place(op);
    attaching::check(op, &place).await
}
