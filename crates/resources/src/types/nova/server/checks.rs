//! Checks of a server's properties beyond their schemas.

use super::disks;
use crate::declare::{Members, PropertyError, SiblingDefinitions, Value};
use crate::lookup::rules::SERVER_METADATA;
use crate::property_access::{is_given, items, open, word};
use crate::refusals::holds;
use kiln_template::codes;

/// Checks the properties, parts of which may be unknown.
pub(super) fn check(
    properties: &Members,
    siblings: &dyn SiblingDefinitions,
) -> Result<(), PropertyError> {
    let name = siblings.own_name();
    items(properties, "networks").iter().try_for_each(|entry| match open(entry).as_map() {
        Some(entry) => check_network(entry, items(properties, "networks").len(), name),
        None => Ok(()),
    })?;
    let has_port = |entry: &Value| open(entry).as_map().is_some_and(|it| is_given(it, "port"));
    if !items(properties, "security_groups").is_empty()
        && items(properties, "networks").iter().any(has_port)
    {
        return Err(conflict(&["security_groups", "networks/port"]));
    }
    for disk in items(properties, "block_device_mapping") {
        if let Some(disk) = open(disk).as_map() {
            check_old_disk(disk)?;
        }
    }
    for disk in items(properties, "block_device_mapping_v2") {
        if let Some(disk) = open(disk).as_map() {
            check_disk(disk)?;
        }
    }
    let older = items(properties, "block_device_mapping");
    let newer = items(properties, "block_device_mapping_v2");
    if !older.is_empty() && !newer.is_empty() {
        return Err(conflict(&["block_device_mapping", "block_device_mapping_v2"]));
    }
    boot_source(properties, name).map_err(PropertyError::new)?;
    check_metadata(properties, siblings)
}

/// Checks that the project may give a server so many entries of metadata.
fn check_metadata(
    properties: &Members,
    siblings: &dyn SiblingDefinitions,
) -> Result<(), PropertyError> {
    let metadata = properties.get("metadata").map(open).and_then(Value::as_map);
    match metadata.map(Members::len) {
        // Every limit is far above this.
        None | Some(0..=20) => Ok(()),
        Some(count) => holds(siblings, SERVER_METADATA, &count.to_string()),
    }
}

/// Checks that there is exactly one boot source, as far as the properties are known.
pub(super) fn boot_source(properties: &Members, name: &str) -> Result<(), String> {
    match disks::boot_sources(properties) {
        Some(0) => {
            Err(format!("Neither image nor bootable volume is specified for instance {name}"))
        }
        Some(1) | None => Ok(()),
        Some(_) => Err(format!("Multiple bootable sources for instance {name}.")),
    }
}

fn conflict(names: &[&str]) -> PropertyError {
    let message =
        format!("Cannot define the following properties at the same time: {}.", names.join(", "));
    PropertyError { code: &codes::PROPERTY_CONFLICT, ..PropertyError::new(message) }
}

fn check_network(entry: &Members, entries: usize, name: &str) -> Result<(), PropertyError> {
    let has = |name: &str| is_given(entry, name);
    if has("allocate_network") {
        let alone = entry.keys().filter(|name| is_given(entry, name)).count() == 1;
        return match (alone, entries) {
            (false, _) => Err(PropertyError::new(
                "Can not specify \"allocate_network\" with other keys of networks at the same time.",
            )),
            (true, 2..) => Err(PropertyError::new(
                "Property \"allocate_network\" can not be specified if multiple network interfaces set \
                 for server.",
            )),
            (true, _) => Ok(()),
        };
    }
    if !["network", "port", "subnet", "uuid"].into_iter().any(has) {
        return Err(PropertyError::new(format!(
            "One of the properties \"network\", \"port\", \"allocate_network\" or \"subnet\" should be \
             set for the specified network of server \"{name}\"."
        )));
    }
    if has("port") && has("fixed_ip") {
        return Err(conflict(&["networks/fixed_ip", "networks/port"]));
    }
    let has_own_port = ["port", "subnet", "port_extra_properties"].into_iter().any(has);
    if has("floating_ip") && !has_own_port {
        return Err(PropertyError::new(
            "Property \"floating_ip\" is not supported if only \"network\" is specified, because the \
             corresponding port can not be retrieved.",
        ));
    }
    Ok(())
}

fn check_old_disk(disk: &Members) -> Result<(), PropertyError> {
    let has = |name: &str| is_given(disk, name);
    match (has("volume_id"), has("snapshot_id")) {
        (true, true) => Err(conflict(&["volume_id", "snapshot_id"])),
        (false, false) => {
            let device = word(disk, "device_name").unwrap_or_default();
            let message = format!(
                "Either volume_id or snapshot_id must be specified for device mapping {device}"
            );
            Err(PropertyError::new(message))
        }
        _ => Ok(()),
    }
}

fn check_disk(disk: &Members) -> Result<(), PropertyError> {
    const SOURCES: [&str; 6] =
        ["volume_id", "snapshot_id", "image", "image_id", "swap_size", "ephemeral_size"];
    let sources: Vec<&str> = SOURCES.into_iter().filter(|name| is_given(disk, name)).collect();
    match sources.len() {
        0 if is_given(disk, "ephemeral_format") => Ok(()),
        0 => Err(PropertyError::new(
            "Either volume_id, snapshot_id, image_id, swap_size, ephemeral_size or ephemeral_format must \
             be specified.",
        )),
        1 => Ok(()),
        _ => Err(conflict(&[
            "volume_id",
            "snapshot_id",
            "image",
            "swap_size",
            "ephemeral_size",
            "ephemeral_format",
        ])),
    }
}
