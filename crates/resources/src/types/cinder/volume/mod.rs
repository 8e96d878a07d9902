//! OS::Cinder::Volume: a block storage volume, empty or made from an image, snapshot or other
//! volume.

use crate::behaviour::{OperationKind, SnapshotRecord, View};
use crate::declare::*;
use crate::property_access::{given, is_given};
use crate::rest::{Readiness, RestSpec};
use kiln_template::functions::{Fault, step_into_attribute};
use kiln_template::print;

pub(crate) mod calls;
pub(crate) mod copies;
mod create;
mod update;

pub(super) fn volume() -> ResourceType {
    ResourceType::new("OS::Cinder::Volume")
        .plain_data([copies::COPY])
        .about("A block storage volume, empty or made from an image, snapshot or other volume.")
        .service(Service::Volume)
        .entity("volumes")
        .checkable()
        .detects_drift()
        .restorable()
        .snapshot_on_delete()
        .props([
            prop("availability_zone", Str, "Name of the availability zone in which the volume is made."),
            prop("backup_id", Str, "ID of the backup that is restored into the volume.").updatable().is(VOLUME_BACKUP),
            prop("description", Str, "Free text that describes the volume.").updatable(),
            prop("image", Str, "Name or ID of the image whose content the volume starts with, so that it can be booted.").is(IMAGE).replaces("imageRef"),
            prop("imageRef", Str, "ID of the image whose content the volume starts with.").deprecated("2014.1").hidden("5.0.0").note("Use `image`."),
            prop("metadata", Map, "Keys and values that are kept with the volume.").updatable().default_empty(),
            prop("multiattach", Bool, "Whether the volume may be attached to several servers at once.")
                .default(false)
                .since("6.0.0")
                .hidden("13.0.0")
                .note("Choose a volume type that allows it."),
            prop("name", Str, "Name of the volume; made from the stack and resource names if omitted.").updatable(),
            prop("read_only", Bool, "Whether servers may only read the volume; a change detaches it for a moment.").updatable().since("5.0.0"),
            prop("scheduler_hints", Map, "Hints for the choice of a storage back end, such as `same_host` with volume IDs.").since("2015.1"),
            prop("size", Int, "Size of the volume in GiB; it can grow later but not shrink.").updatable().min(1),
            prop("snapshot_id", Str, "ID of the snapshot that the volume is a copy of.").is(VOLUME_SNAPSHOT),
            prop("source_volid", Str, "ID of the volume whose content is copied.").is(VOLUME),
            prop("volume_type", Str, "Name or ID of the volume type; a change converts the volume.").updatable().is(VOLUME_TYPE),
        ])
        .attrs([
            attr("attachments", Str, "Text form of the list of servers that the volume is attached to.")
                .uncached()
                .since("2015.1")
                .deprecated("9.0.0")
                .note("Use `attachments_list`."),
            attr("attachments_list", List, "Attachments of the volume, each with its server and device.").uncached().since("9.0.0"),
            attr("availability_zone", Str, "Name of the availability zone in which the volume is."),
            attr("bootable", Str, "Whether servers can boot from the volume, as text."),
            attr("created_at", Str, "Time at which the volume was made."),
            attr("display_description", Str, "Free text that describes the volume."),
            attr("display_name", Str, "Name of the volume in the block storage service."),
            attr("encrypted", Str, "Whether the content of the volume is encrypted, as text."),
            attr("metadata", Str, "Keys and values kept with the volume, as JSON text."),
            attr("metadata_values", Map, "Keys and values kept with the volume, as a map."),
            attr("multiattach", Bool, "Whether the volume may be attached to several servers at once.").since("6.0.0"),
            attr("size", Str, "Size of the volume in GiB."),
            attr("snapshot_id", Str, "ID of the snapshot that the volume was made from."),
            attr("source_volid", Str, "ID of the volume that this one is a copy of."),
            attr("status", Str, "State of the volume, such as `available` or `in-use`.").uncached(),
            attr("volume_type", Str, "Name of the volume type that the volume has."),
        ])
        .check(check)
        .creates(|op| Box::pin(create::create(op)))
        .updates(|op| Box::pin(update::update(op)))
        .deletes(|op| Box::pin(calls::remove(op)))
        .on(OperationKind::Check, |op| Box::pin(calls::check(op)))
        .copied(|op| Box::pin(copies::copy(op)), |op| Box::pin(copies::forget(op)))
        .restores_with(restore)
        .attributes(attribute)
        .rest(
            RestSpec::new(Service::Volume, "/volumes", "volume")
                .field("image", "imageRef")
                .unsent(["backup_id", "imageRef", "multiattach", "read_only", "scheduler_hints"])
                .readiness(
                    Readiness::when("status", ["available"], ["error", "error_restoring"])
                        .waiting(["creating", "restoring-backup", "downloading"])
                        .gone(["deleting"]),
                )
                .mark_field("description"),
        )
}

/// Checks that a volume has one source at most, and a size if the source has none.
fn check(properties: &Members) -> Result<(), PropertyError> {
    const SOURCES: [&str; 5] = ["source_volid", "snapshot_id", "backup_id", "image", "imageRef"];
    let is_known = |name: &str| !matches!(properties.get(name), Some(Value::Unknown(_)));
    if !SOURCES.into_iter().chain(["size"]).all(is_known) {
        return Ok(());
    }
    let sources: Vec<&str> =
        SOURCES.into_iter().filter(|name| is_given(properties, name)).collect();
    let sized = ["source_volid", "snapshot_id", "backup_id"];
    match (given(properties, "size"), sources.as_slice()) {
        (Some(_), [] | [_]) => Ok(()),
        (None, [one]) if sized.contains(one) => Ok(()),
        (None, []) => Err(PropertyError::new(
            "A volume needs a size, or one of source_volid, snapshot_id or backup_id to be made from.",
        )),
        (None, [one]) => {
            Err(PropertyError::new(format!("A volume that is made from {one} needs a size.")))
        }
        (_, several) => Err(PropertyError::new(format!(
            "A volume is made from one thing at most: give one of {}.",
            several.join(", ")
        ))),
    }
}

/// Restores a volume to a snapshot: its new definition names the backup.
fn restore(properties: &mut Members, saved: &SnapshotRecord<'_>) {
    if let Some(backup) = saved.data.get(copies::COPY) {
        properties.insert("backup_id".into(), backup.clone());
    }
}

/// Reads an attribute; most are converted to text, as in Heat.
fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let shown = view.remote.as_map();
    let field = |field: &str| shown.and_then(|shown| shown.get(field)).cloned().unwrap_or_default();
    let answer = match name {
        "attachments_list" => field("attachments"),
        "metadata_values" => field("metadata"),
        "metadata" => print::json(&field("metadata"), print::Keys::Ordered).into(),
        "multiattach" => field("multiattach"),
        "display_name" => text(field("name")),
        "display_description" => text(field("description")),
        "attachments" | "availability_zone" | "bootable" | "created_at" | "encrypted" | "size"
        | "snapshot_id" | "source_volid" | "status" | "volume_type" => text(field(name)),
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}

fn text(value: Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(text),
        value => print::plain(&value).into(),
    }
}
