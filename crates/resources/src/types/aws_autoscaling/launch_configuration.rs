//! AWS::AutoScaling::LaunchConfiguration: the image, flavor and settings with which a scaling group
//! makes its servers.

use crate::declare::*;
use crate::types::aws_ec2::{block_device_mappings, key_value};

pub(super) fn launch_configuration() -> ResourceType {
    ResourceType::new("AWS::AutoScaling::LaunchConfiguration")
        .about("The image, flavor and settings with which a scaling group makes its servers.")
        .props([
            block_device_mappings(),
            prop("ImageId", Str).is("glance.image"),
            prop("InstanceId", Str).is("nova.server"),
            prop("InstanceType", Str).is("nova.flavor"),
            prop("KernelId", Str).unimplemented(),
            prop("KeyName", Str).is("nova.keypair"),
            prop("NovaSchedulerHints", List).each(key_value()),
            prop("RamDiskId", Str).unimplemented(),
            prop("SecurityGroups", List),
            prop("UserData", Str),
        ])
        .without_object()
        .replaced_if(|change| change.metadata_changed)
}
