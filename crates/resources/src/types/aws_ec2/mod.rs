//! Servers, volumes and networks in AWS terms: `AWS::EC2::*`.

use crate::declare::*;
use crate::property_access::{items, open, section, text};
use crate::refusals::may_be_given;
use serde_json::{Map, Value as Json};

mod eip;
mod eip_association;
mod instance;
mod internet_gateway;
mod network;
mod network_interface;
mod route_table;
mod security_group;
mod subnet;
mod subnet_route_table_association;
mod volume;
mod volume_attachment;
mod vpc;
mod vpc_gateway_attachment;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        eip::eip(),
        eip_association::eip_association(),
        instance::instance(),
        internet_gateway::internet_gateway(),
        network_interface::network_interface(),
        route_table::route_table(),
        security_group::security_group(),
        subnet::subnet(),
        subnet_route_table_association::subnet_route_table_association(),
        volume::volume(),
        volume_attachment::volume_attachment(),
        vpc::vpc(),
        vpc_gateway_attachment::vpc_gateway_attachment(),
    ]
}

/// The item of a list of tags: a key with its value.
pub(crate) fn key_value() -> Prop {
    record([
        prop("Key", Str, "Name of the tag or scheduler hint.").required(),
        prop("Value", Str, "Value of the tag or scheduler hint.").required(),
    ])
}

/// The tags of a resource as metadata.
pub(crate) fn tags(properties: &Members) -> Map<String, Json> {
    pairs(properties, "Tags")
}

/// The keys in a list of pairs, with their values.
fn pairs(properties: &Members, name: &str) -> Map<String, Json> {
    let all = items(properties, name).iter().filter_map(|pair| open(pair).as_map());
    all.filter_map(|pair| Some((text(pair, "Key")?.to_owned(), text(pair, "Value")?.into())))
        .collect()
}

/// The disks that a server is made with.
pub(crate) fn block_device_mappings() -> Prop {
    prop("BlockDeviceMappings", List, "Disks that the server is given when it is made, each from a volume snapshot.").each(record([
        prop("DeviceName", Str, "Device name under which the server sees the disk, such as `/dev/vdc`.").required(),
        prop("Ebs", Map, "Volume that is made for the disk.").members([
            prop("DeleteOnTermination", Bool, "Whether the volume is deleted together with the server.").default(true),
            prop("Iops", Num, "Input and output operations per second that the volume should offer; not supported.").unimplemented(),
            prop("SnapshotId", Str, "ID of the snapshot that the volume is made from.").is(VOLUME_SNAPSHOT),
            prop("VolumeSize", Str, "Size of the volume in GiB; that of the snapshot if omitted."),
            prop("VolumeType", Str, "Storage type of the volume; not supported.").unimplemented(),
        ]),
        prop("NoDevice", Map, "Marks a device of the image that is to be left out; not supported.").unimplemented(),
        prop("VirtualName", Str, "Name of an ephemeral disk, such as `ephemeral0`; not supported.").unimplemented(),
    ]))
}

/// Refuses block devices that are no snapshots: Heat supports no others.
pub(crate) fn check_block_devices(properties: &Members) -> Result<(), PropertyError> {
    let missing = |what: &str| {
        let message =
            format!("{what} is missing, this is required when specifying BlockDeviceMappings.");
        Err(PropertyError::new(message))
    };
    for device in items(properties, "BlockDeviceMappings").iter().filter_map(Value::as_map) {
        if !may_be_given(device, "Ebs") {
            return missing("Ebs");
        }
        if section(device, "Ebs").is_some_and(|ebs| !may_be_given(ebs, "SnapshotId")) {
            return missing("SnapshotId");
        }
    }
    Ok(())
}
