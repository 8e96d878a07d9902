//! OS::Glance::WebImage: an image that the image service downloads from a URL.

use crate::declare::*;

const UUID: &str =
    "^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$";

pub(super) fn web_image() -> ResourceType {
    ResourceType::new("OS::Glance::WebImage")
        .about("An image that the image service downloads from a URL.")
        .service(Service::Image)
        .entity("images")
        .observable()
        .since("12.0.0")
        .props([
            prop("active", Bool).updatable().default(true).since("16.0.0"),
            prop("architecture", Str).updatable(),
            prop("container_format", Str)
                .required()
                .one_of(["ami", "ari", "aki", "bare", "ovf", "ova", "docker"]),
            prop("disk_format", Str).required().one_of([
                "ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop",
            ]),
            prop("extra_properties", Map).updatable().default_empty().since("17.0.0"),
            prop("id", Str),
            prop("kernel_id", Str).updatable().pattern(UUID),
            prop("location", Str).required(),
            prop("members", List).updatable().since("16.0.0").each(item(Str)),
            prop("min_disk", Int).default(0).min(0),
            prop("min_ram", Int).default(0).min(0),
            prop("name", Str),
            prop("os_distro", Str).updatable(),
            prop("os_version", Str).updatable(),
            prop("owner", Str).updatable(),
            prop("protected", Bool).updatable().default(false),
            prop("ramdisk_id", Str).updatable().pattern(UUID),
            prop("tags", List).updatable(),
            prop("visibility", Str).updatable().default("private").one_of([
                "public",
                "private",
                "community",
                "shared",
            ]),
        ])
}
