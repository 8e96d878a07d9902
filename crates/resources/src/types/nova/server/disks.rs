//! The disks of a server: their sources, and the boot disk.

use crate::declare::{Members, Value};
use crate::property_access::{given, is_given, items, open, word};
use crate::wire;
use serde_json::{Map, Value as Json, json};

/// The block device mapping of a request; empty if the server only has the disk from its image.
pub(super) fn mapping(properties: &Members) -> Vec<Json> {
    let older = items(properties, "block_device_mapping").iter().filter_map(|it| open(it).as_map());
    let newer =
        items(properties, "block_device_mapping_v2").iter().filter_map(|it| open(it).as_map());
    let image = word(properties, "image");
    let mut disks: Vec<Json> = older.map(|disk| of_old_form(disk, image.is_some())).collect();
    disks.extend(newer.map(disk));
    if let Some(image) = image {
        add_root(&mut disks, image);
    }
    disks
}

/// Puts the root disk, which is made from the image, before the others. A server that has no others gets it
/// without a mapping.
pub(crate) fn add_root(disks: &mut Vec<Json>, image: &str) {
    if !disks.is_empty() {
        let root = json!({
            "uuid": image,
            "source_type": "image",
            "destination_type": "local",
            "boot_index": 0,
            "delete_on_termination": true,
        });
        disks.insert(0, root);
    }
}

/// Whether a server boots from a volume and not from its image.
pub(super) fn boots_from_volume(properties: &Members) -> bool {
    word(properties, "image").is_none()
}

/// Converts a disk of `block_device_mapping`: a volume or a snapshot. The first disk of a server without an
/// image is its boot disk.
fn of_old_form(given_disk: &Members, has_image: bool) -> Json {
    let device = word(given_disk, "device_name").unwrap_or_default();
    let is_root = !has_image && is_first(device);
    let (source, id) = match word(given_disk, "volume_id") {
        Some(id) => ("volume", Some(id)),
        None => ("snapshot", word(given_disk, "snapshot_id")),
    };
    let mut disk = json!({
        "uuid": id,
        "source_type": source,
        "destination_type": "volume",
        "device_name": device,
        "boot_index": if is_root { 0 } else { -1 },
    });
    for name in ["volume_size", "delete_on_termination"] {
        if let Some(value) = given(given_disk, name) {
            disk[name] = wire::json(value);
        }
    }
    disk
}

/// Whether a device name is that of the boot disk.
fn is_first(device: &str) -> bool {
    device.rsplit('/').next() == Some("vda")
}

fn disk(of: &Members) -> Json {
    let mut disk = Map::new();
    let mut put = |name: &str, value: Json| _ = disk.insert(name.into(), value);
    let sources = [("volume_id", "volume"), ("snapshot_id", "snapshot"), ("image", "image")];
    let source = sources.into_iter().find_map(|(name, kind)| Some((kind, word(of, name)?)));
    match source {
        Some((kind, id)) => {
            put("uuid", id.into());
            put("source_type", kind.into());
            put("destination_type", "volume".into());
            put("boot_index", 0.into());
            put("delete_on_termination", false.into());
        }
        None => {
            put("source_type", "blank".into());
            put("destination_type", "local".into());
            put("boot_index", (-1).into());
            put("delete_on_termination", true.into());
            if let Some(size) = given(of, "swap_size") {
                put("guest_format", "swap".into());
                put("volume_size", wire::json(size));
            } else {
                for (name, field) in
                    [("ephemeral_size", "volume_size"), ("ephemeral_format", "guest_format")]
                {
                    if let Some(value) = given(of, name) {
                        put(field, wire::json(value));
                    }
                }
            }
        }
    }
    const CHOSEN: [&str; 7] = [
        "device_name",
        "device_type",
        "disk_bus",
        "boot_index",
        "volume_size",
        "delete_on_termination",
        "volume_type",
    ];
    for name in CHOSEN {
        if let Some(value) = given(of, name) {
            put(name, wire::json(value));
        }
    }
    Json::Object(disk)
}

/// The number of boot sources; `None` if it is not known yet.
pub(super) fn boot_sources(properties: &Members) -> Option<usize> {
    let known = |name: &str| match properties.get(name) {
        Some(Value::Unknown(_)) => None,
        _ => Some(is_given(properties, name)),
    };
    let image = usize::from(known("image")?);
    let mut volumes = 0;
    for name in ["block_device_mapping", "block_device_mapping_v2"] {
        known(name)?;
        for disk in items(properties, name) {
            let disk = open(disk).as_map()?;
            if disk.values().any(|value| matches!(value, Value::Unknown(_))) {
                return None;
            }
            let is_root = match name {
                // Beside an image, the volume is a further disk.
                "block_device_mapping" => {
                    image == 0 && word(disk, "device_name").is_some_and(is_first)
                }
                _ => {
                    let has_source =
                        ["volume_id", "snapshot_id", "image"].iter().any(|it| is_given(disk, it));
                    match given(disk, "boot_index") {
                        Some(index) => index.equals(&Value::from(0)),
                        None => has_source,
                    }
                }
            };
            volumes += usize::from(is_root);
        }
    }
    Some(image + volumes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{list, map};

    fn server(members: impl IntoIterator<Item = (&'static str, Value)>) -> Members {
        members.into_iter().map(|(name, value)| (name.into(), value)).collect()
    }

    #[test]
    fn a_server_boots_from_what_is_given() {
        let volume = map([("volume_id", Value::from("v")), ("boot_index", 0.into())]);
        let properties = server([("block_device_mapping_v2", list([volume]))]);
        assert_eq!(
            mapping(&properties),
            [json!({ "uuid": "v", "source_type": "volume", "destination_type": "volume",
                     "boot_index": 0, "delete_on_termination": false })]
        );
        assert_eq!(boot_sources(&properties), Some(1));
        let swap = map([("swap_size", Value::from(64))]);
        let properties = server([("image", "i".into()), ("block_device_mapping_v2", list([swap]))]);
        assert_eq!(
            mapping(&properties)[1],
            json!({ "source_type": "blank", "destination_type": "local", "boot_index": -1,
                    "delete_on_termination": true, "guest_format": "swap", "volume_size": 64 })
        );
        assert_eq!(mapping(&properties)[0]["uuid"], "i");
        assert_eq!(boot_sources(&properties), Some(1));
    }

    #[test]
    fn the_older_form_says_the_same() {
        let first = map([("device_name", Value::from("vda")), ("volume_id", "v".into())]);
        let second = map([
            ("device_name", Value::from("vdb")),
            ("snapshot_id", "s".into()),
            ("volume_size", 2.into()),
        ]);
        let properties = server([("block_device_mapping", list([first, second]))]);
        let disks = mapping(&properties);
        assert_eq!((&disks[0]["boot_index"], &disks[1]["boot_index"]), (&json!(0), &json!(-1)));
        assert_eq!(
            (&disks[1]["source_type"], &disks[1]["uuid"]),
            (&json!("snapshot"), &json!("s"))
        );
        assert_eq!(boot_sources(&properties), Some(1));
    }
}
