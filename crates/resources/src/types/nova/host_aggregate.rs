//! OS::Nova::HostAggregate: a set of compute hosts with metadata of their own.

use crate::declare::*;

pub(super) fn host_aggregate() -> ResourceType {
    ResourceType::new("OS::Nova::HostAggregate")
        .about("A set of compute hosts with metadata of their own.")
        .service(Service::Compute)
        .entity("aggregates")
        .observable()
        .since("6.0.0")
        .props([
            prop("availability_zone", Str).updatable(),
            prop("hosts", List).updatable().each(item(Str).is("nova.host")),
            prop("metadata", Map).updatable().default_empty(),
            prop("name", Str).required().updatable(),
        ])
}
