//! OS::Manila::Share: a shared file system.

use crate::declare::*;

pub(super) fn share() -> ResourceType {
    ResourceType::new("OS::Manila::Share")
        .about("A shared file system.")
        .service(Service::Share)
        .entity("shares")
        .checkable()
        .observable()
        .since("5.0.0")
        .props([
            prop("access_rules", List).updatable().default_empty().each(record([
                prop("access_level", Str).one_of(["ro", "rw"]),
                prop("access_to", Str).required(),
                prop("access_type", Str).required().one_of(["ip", "user", "cert", "cephx"]),
            ])),
            prop("description", Str).updatable(),
            prop("is_public", Bool).updatable().default(false),
            prop("metadata", Map).updatable(),
            prop("name", Str).updatable(),
            prop("share_network", Str).is("manila.share_network"),
            prop("share_protocol", Str).required().one_of([
                "NFS",
                "CIFS",
                "GlusterFS",
                "HDFS",
                "CEPHFS",
            ]),
            prop("share_type", Str).is("manila.share_type"),
            prop("size", Int).required(),
            prop("snapshot", Str).is("manila.share_snapshot"),
        ])
        .attrs([
            attr("availability_zone", Str),
            attr("created_at", Str),
            attr("export_locations", List),
            attr("host", Str),
            attr("project_id", Str),
            attr("share_server_id", Str),
            attr("status", Str),
        ])
}
