//! AWS::AutoScaling::LaunchConfiguration: the image, flavor and settings with which a scaling group
//! makes its servers.

use crate::declare::*;
use crate::refusals::may_be_given;
use crate::types::aws_ec2::{block_device_mappings, check_block_devices, key_value};
use kiln_template::codes;

pub(super) fn launch_configuration() -> ResourceType {
    ResourceType::new("AWS::AutoScaling::LaunchConfiguration")
        .about("The image, flavor and settings with which a scaling group makes its servers.")
        .props([
            block_device_mappings(),
            prop("ImageId", Str, "Name or ID of the image that servers boot from.").is(IMAGE),
            prop(
                "InstanceId",
                Str,
                "ID of an existing server that supplies whatever settings are not given here.",
            )
            .is(SERVER),
            prop("InstanceType", Str, "Name or ID of the flavor of the servers.").is(FLAVOR),
            prop("KernelId", Str, "Kernel image that servers boot with; not supported.")
                .unimplemented(),
            prop("KeyName", Str, "Name of the SSH key pair that is put on the servers.")
                .is(KEY_PAIR),
            prop(
                "NovaSchedulerHints",
                List,
                "Hints for the scheduler of the compute service, as pairs of key and value.",
            )
            .each(key_value()),
            prop("RamDiskId", Str, "RAM disk image that servers boot with; not supported.")
                .unimplemented(),
            prop(
                "SecurityGroups",
                List,
                "Names of the security groups that filter the traffic of the servers.",
            ),
            prop("UserData", Str, "Script or other data that servers receive at their first boot."),
        ])
        .check(check)
        .without_object()
        .replaced_if(|change| change.metadata_changed)
}

fn check(properties: &Members) -> Result<(), PropertyError> {
    check_block_devices(properties)?;
    no_server_as_model(properties)?;
    match ["ImageId", "InstanceType"].iter().all(|name| may_be_given(properties, name)) {
        true => Ok(()),
        false => {
            Err(PropertyError::new("If without InstanceId, ImageId and InstanceType are required."))
        }
    }
}

/// Refuses an existing server as the model of new ones, as Heat does with every version of Nova since 2017.
pub(super) fn no_server_as_model(properties: &Members) -> Result<(), PropertyError> {
    if !may_be_given(properties, "InstanceId") {
        return Ok(());
    }
    let message =
        "InstanceId is not supported: name the image and the flavor in a launch configuration.";
    Err(PropertyError { code: &codes::NOT_SUPPORTED, ..PropertyError::new(message) })
}
