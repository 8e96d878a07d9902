//! OS::Cinder::VolumeType: a kind of volume that users can choose, with the specifications behind
//! it.

use crate::declare::*;

pub(super) fn volume_type() -> ResourceType {
    ResourceType::new("OS::Cinder::VolumeType")
        .about("A kind of volume that users can choose, with the specifications behind it.")
        .service(Service::Volume)
        .extension("os-types-manage")
        .entity("volume_types")
        .observable()
        .since("2015.1")
        .props([
            prop("description", Str).updatable().since("5.0.0"),
            prop("is_public", Bool).updatable().default(true).since("5.0.0"),
            prop("metadata", Map).updatable(),
            prop("name", Str).required().updatable(),
            prop("projects", List)
                .updatable()
                .default_empty()
                .since("5.0.0")
                .each(item(Str).is("keystone.project")),
        ])
}
