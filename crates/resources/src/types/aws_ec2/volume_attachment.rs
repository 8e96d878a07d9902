//! AWS::EC2::VolumeAttachment: the attachment of a volume to a server as a device.

use crate::declare::*;

pub(super) fn volume_attachment() -> ResourceType {
    ResourceType::new("AWS::EC2::VolumeAttachment")
        .about("The attachment of a volume to a server as a device.")
        .service(Service::Volume)
        .props([
            prop("Device", Str).required().immutable().pattern("/dev/vd[b-z]"),
            prop("InstanceId", Str).required().immutable().is("nova.server"),
            prop("VolumeId", Str).required().immutable().is("cinder.volume"),
        ])
}
