//! OS::Cinder::VolumeAttachment: the attachment of a volume to a server.

use crate::declare::*;

pub(super) fn volume_attachment() -> ResourceType {
    ResourceType::new("OS::Cinder::VolumeAttachment")
        .about("The attachment of a volume to a server.")
        .service(Service::Volume)
        .props([
            prop("instance_uuid", Str).required().updatable(),
            prop("mountpoint", Str).updatable(),
            prop("volume_id", Str).required().updatable().is("cinder.volume"),
        ])
}
