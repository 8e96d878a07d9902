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
            prop("description", Str).updatable(),
            prop("enabled", Bool).updatable().default(true).since("6.0.0"),
            prop("name", Str).updatable(),
            prop("type", Str).required().updatable(),
        ])
        .rest(rest_spec("/services", "service").mark_field("description"))
}
