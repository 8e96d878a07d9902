//! OS::Keystone::Endpoint: the URL of a service in a region, as the catalogue lists it.

use super::common::rest_spec;
use crate::declare::*;

pub(super) fn endpoint() -> ResourceType {
    ResourceType::new("OS::Keystone::Endpoint")
        .about("The URL of a service in a region, as the catalogue lists it.")
        .service(Service::Identity)
        .entity("endpoints")
        .detects_drift()
        .since("5.0.0")
        .props([
            prop("enabled", Bool).updatable().default(true).since("6.0.0"),
            prop("interface", Str).required().updatable().one_of(["public", "internal", "admin"]),
            prop("name", Str).updatable(),
            prop("region", Str).updatable().is("keystone.region").by_name(),
            prop("service", Str).required().updatable().is("keystone.service").by_name(),
            prop("url", Str).required().updatable(),
        ])
        .rest(
            rest_spec("/endpoints", "endpoint")
                .field("region", "region_id")
                .field("service", "service_id"),
        )
}
