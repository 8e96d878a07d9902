//! OS::Cinder::Volume: a block storage volume, empty or made from an image, snapshot or other
//! volume.

use crate::behaviour::{OperationKind, SnapshotRecord, View};
use crate::declare::*;
use crate::refusals::{exclusive, is_given, may_be_given};
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
                .marks_then_renames(),
        )
}

/// Checks that a volume has one source at most, and a size if the source has none.
fn check(properties: &Members) -> Result<(), PropertyError> {
    exclusive(properties, "image", "imageRef")?;
    if may_be_given(properties, "backup_id") {
        return Ok(());
    }
    let sources: Vec<&str> =
        SOURCES.into_iter().filter(|name| is_given(properties, name)).collect();
    let may_be_more = SOURCES
        .into_iter()
        .any(|name| !is_given(properties, name) && may_be_given(properties, name));
    let told = || sources.iter().map(|it| format!("'{it}'")).collect::<Vec<_>>().join(", ");
    let has_size = may_be_given(properties, "size");
    match sources.as_slice() {
        _ if has_size && sources.len() > 1 => Err(PropertyError::new(format!(
            "If \"size\" is provided, only one of \"image\", \"imageRef\", \"source_volid\", \"snapshot_id\" can be \
             specified, but currently specified options: [{}].",
            told()
        ))),
        _ if has_size || may_be_more => Ok(()),
        ["source_volid" | "snapshot_id"] => Ok(()),
        _ => Err(PropertyError::new(format!(
            "If neither \"backup_id\" nor \"size\" is provided, one and only one of \"source_volid\", \"snapshot_id\" must \
             be specified, but currently specified options: [{}].",
            told()
        ))),
    }
}

/// What a volume can be made from, in the order in which messages name them.
const SOURCES: [&str; 4] = ["snapshot_id", "source_volid", "image", "imageRef"];

/// Restores a volume to a snapshot: its new definition names the backup.
fn restore(properties: &mut Members, saved: &SnapshotRecord<'_>) {
    if let Some(backup) = saved.data.get(copies::COPY) {
        properties.insert("backup_id".into(), backup.clone());
    }
}

/// Reads an attribute; most are converted to text, as in Heat. Those of a volume that was never made are null.
fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let Some(shown) = view.remote.as_map() else {
        return Ok((name != "show").then_some(Value::Null));
    };
    let field = |field: &str| shown.get(field).cloned().unwrap_or_default();
    let answer = match name {
        "attachments_list" => field("attachments"),
        "metadata_values" => field("metadata"),
        "metadata" => print::json(&field("metadata"), print::Keys::Ordered).into(),
        "display_name" => field("name"),
        "display_description" => field("description"),
        "attachments" | "availability_zone" | "bootable" | "created_at" | "encrypted"
        | "multiattach" | "size" | "snapshot_id" | "source_volid" | "status" | "volume_type" => {
            text(field(name))
        }
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
