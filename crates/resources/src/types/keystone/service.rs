//! OS::Keystone::Service: a service that the catalogue lists.

use super::common::rest_spec;
use crate::declare::*;

pub(super) fn service() -> ResourceType {
    ResourceType::new("OS::Keystone::Service")
        .about("A service that the catalogue lists.")
        .service(Service::Identity)
        .entity("services")
        .since("5.0.0")
        .props([
            prop("description", Str, "Free text that describes the service.").updatable(),
            prop("enabled", Bool, "Whether the service and its endpoints appear in the catalogue.")
                .updatable()
                .default(true)
                .since("6.0.0"),
            prop(
                "name",
                Str,
                "Name of the service; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop("type", Str, "Kind of service by which clients look it up, such as `compute`.")
                .required()
                .updatable(),
        ])
        .rest(rest_spec("/services", "service").mark_field("description"))
}
