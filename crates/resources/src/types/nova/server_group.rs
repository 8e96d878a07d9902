//! OS::Nova::ServerGroup: a group of servers to be placed together or apart.

use crate::declare::*;

pub(super) fn server_group() -> ResourceType {
    ResourceType::new("OS::Nova::ServerGroup")
        .about("A group of servers to be placed together or apart.")
        .service(Service::Compute)
        .entity("server_groups")
        .since("2014.2")
        .props([
            prop("name", Str),
            prop("policies", List)
                .default(list(["anti-affinity"]))
                .one_of(["anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity"])
                .each(item(Str)),
            prop("rules", Map).since("17.0.0").members([prop("max_server_per_host", Num)]),
        ])
}
