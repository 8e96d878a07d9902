//! AWS::EC2::Instance: a server, described in EC2 terms.

use super::{block_device_mappings, key_value};
use crate::declare::*;

pub(super) fn instance() -> ResourceType {
    ResourceType::new("AWS::EC2::Instance")
        .about("A server, described in EC2 terms.")
        .service(Service::Compute)
        .name_limit(53)
        .checkable()
        .suspendable()
        .props([
            prop("AvailabilityZone", Str),
            block_device_mappings(),
            prop("DisableApiTermination", Str).unimplemented(),
            prop("ImageId", Str).required().is("glance.image"),
            prop("InstanceType", Str).required().updatable().is("nova.flavor"),
            prop("KernelId", Str).unimplemented(),
            prop("KeyName", Str).is("nova.keypair"),
            prop("Monitoring", Bool).unimplemented(),
            prop("NetworkInterfaces", List).updatable(),
            prop("NovaSchedulerHints", List).each(key_value()),
            prop("PlacementGroupName", Str).unimplemented(),
            prop("PrivateIpAddress", Str).unimplemented(),
            prop("RamDiskId", Str).unimplemented(),
            prop("SecurityGroupIds", List),
            prop("SecurityGroups", List),
            prop("SourceDestCheck", Bool).unimplemented(),
            prop("SubnetId", Str).updatable(),
            prop("Tags", List).updatable().each(key_value()),
            prop("Tenancy", Str).unimplemented().one_of(["dedicated", "default"]),
            prop("UserData", Str),
            prop("Volumes", List).default_empty().each(record([
                prop("Device", Str).required(),
                prop("VolumeId", Str).required().is("cinder.volume"),
            ])),
        ])
        .attrs([
            attr("AvailabilityZone", Str),
            attr("PrivateDnsName", Str),
            attr("PrivateIp", Str),
            attr("PublicDnsName", Str),
            attr("PublicIp", Str),
        ])
}
