//! AWS::EC2::Volume: a block storage volume, described in EC2 terms.

use super::key_value;
use crate::declare::*;

pub(super) fn volume() -> ResourceType {
    ResourceType::new("AWS::EC2::Volume")
        .about("A block storage volume, described in EC2 terms.")
        .service(Service::Volume)
        .checkable()
        .snapshot_on_delete()
        .props([
            prop("AvailabilityZone", Str).required().immutable(),
            prop("Size", Int).immutable().min(1),
            prop("SnapshotId", Str).immutable().is("cinder.backup"),
            prop("Tags", List).immutable().each(key_value()),
        ])
}
