//! OS::Designate::Zone: a DNS zone that the cloud's name servers answer for.

use crate::declare::*;

pub(super) fn zone() -> ResourceType {
    ResourceType::new("OS::Designate::Zone")
        .about("A DNS zone that the cloud's name servers answer for.")
        .service(Service::Dns)
        .entity("zones")
        .since("8.0.0")
        .props([
            prop("attributes", Map).since("24.0.0"),
            prop("description", Str).updatable().max_length(160),
            prop("email", Str).updatable(),
            // The service knows them by the older name.
            prop("masters", List)
                .updatable()
                .replaces("primaries")
                .deprecated("15.0.0")
                .note("Use `primaries`."),
            prop("name", Str).required().max_length(255),
            prop("primaries", List).updatable(),
            prop("ttl", Int).updatable().range(1, 2147483647),
            prop("type", Str).default("PRIMARY").one_of(["PRIMARY", "SECONDARY"]),
        ])
        .attrs([attr("serial", Str)])
}
