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
            prop("enabled", Bool, "Whether the endpoint appears in the catalogue.")
                .updatable()
                .default(true)
                .since("6.0.0"),
            prop(
                "interface",
                Str,
                "Whom the endpoint is for: everybody, other services or administrators.",
            )
            .required()
            .updatable()
            .one_of(["public", "internal", "admin"]),
            prop(
                "name",
                Str,
                "Readable name of the endpoint; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop("region", Str, "Name or ID of the region that the endpoint belongs to.")
                .updatable()
                .is(REGION)
                .by_name(),
            prop("service", Str, "Name or ID of the service that is reached at the endpoint.")
                .required()
                .updatable()
                .is(IDENTITY_SERVICE)
                .by_name(),
            prop(
                "url",
                Str,
                "URL of the endpoint, in which `%(project_id)s` stands for the caller's project.",
            )
            .required()
            .updatable(),
        ])
        .rest(
            rest_spec("/endpoints", "endpoint")
                .field("region", "region_id")
                .field("service", "service_id"),
        )
}
