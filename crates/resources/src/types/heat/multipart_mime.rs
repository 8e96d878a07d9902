//! OS::Heat::MultipartMime: several configurations put together as one MIME message for cloud-init.

use crate::declare::*;

pub(super) fn multipart_mime() -> ResourceType {
    ResourceType::new("OS::Heat::MultipartMime")
        .about("Several configurations put together as one MIME message for cloud-init.")
        .service(Service::Orchestration)
        .entity("software_configs")
        .since("2014.1")
        .props([
            prop("group", Str).default("Heat::Ungrouped").since("14.0.0"),
            prop("parts", List).default_empty().each(record([
                prop("config", Str).required(),
                prop("filename", Str),
                prop("subtype", Str),
                prop("type", Str).default("text").one_of(["text", "multipart"]),
            ])),
        ])
        .attrs([attr("config", Str)])
}
