//! OS::Nova::Flavor: a size of server: memory, processors and disk.

use crate::declare::*;

pub(super) fn flavor() -> ResourceType {
    ResourceType::new("OS::Nova::Flavor")
        .about("A size of server: memory, processors and disk.")
        .service(Service::Compute)
        .entity("flavors")
        .observable()
        .since("2014.2")
        .props([
            prop("disk", Int).default(0),
            prop("ephemeral", Int).default(0),
            prop("extra_specs", Map).updatable(),
            prop("flavorid", Str).since("7.0.0"),
            prop("is_public", Bool).default(true).since("6.0.0"),
            prop("name", Str).since("7.0.0"),
            prop("ram", Int).required(),
            prop("rxtx_factor", Num).default(1.0),
            prop("swap", Int).default(0),
            prop("tenants", List)
                .updatable()
                .default_empty()
                .since("8.0.0")
                .each(item(Str).is("keystone.project").by_name()),
            prop("vcpus", Int).required(),
        ])
        .attrs([attr("extra_specs", Map).since("7.0.0"), attr("is_public", Bool).since("6.0.0")])
}
