//! OS::Cinder::Volume: a block storage volume, empty or made from an image, snapshot or other
//! volume.

use crate::declare::*;

pub(super) fn volume() -> ResourceType {
    ResourceType::new("OS::Cinder::Volume")
        .about("A block storage volume, empty or made from an image, snapshot or other volume.")
        .service(Service::Volume)
        .entity("volumes")
        .checkable()
        .observable()
        .restorable()
        .snapshot_on_delete()
        .props([
            prop("availability_zone", Str),
            prop("backup_id", Str).updatable().is("cinder.backup"),
            prop("description", Str).updatable(),
            prop("image", Str).is("glance.image").replaces("imageRef"),
            prop("imageRef", Str).deprecated("2014.1").hidden("5.0.0").note("Use `image`."),
            prop("metadata", Map).updatable().default_empty(),
            prop("multiattach", Bool)
                .default(false)
                .since("6.0.0")
                .hidden("13.0.0")
                .note("Choose a volume type that allows it."),
            prop("name", Str).updatable(),
            prop("read_only", Bool).updatable().since("5.0.0"),
            prop("scheduler_hints", Map).since("2015.1"),
            prop("size", Int).updatable().min(1),
            prop("snapshot_id", Str).is("cinder.snapshot"),
            prop("source_volid", Str).is("cinder.volume"),
            prop("volume_type", Str).updatable().is("cinder.vtype"),
        ])
        .attrs([
            attr("attachments", Str)
                .uncached()
                .since("2015.1")
                .deprecated("9.0.0")
                .note("Use `attachments_list`."),
            attr("attachments_list", List).uncached().since("9.0.0"),
            attr("availability_zone", Str),
            attr("bootable", Str),
            attr("created_at", Str),
            attr("display_description", Str),
            attr("display_name", Str),
            attr("encrypted", Str),
            attr("metadata", Str),
            attr("metadata_values", Map),
            attr("multiattach", Bool).since("6.0.0"),
            attr("size", Str),
            attr("snapshot_id", Str),
            attr("source_volid", Str),
            attr("status", Str).uncached(),
            attr("volume_type", Str),
        ])
}
