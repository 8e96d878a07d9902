//! OS::Barbican::GenericContainer: a set of secrets under names of one's own choice.

use crate::declare::*;

pub(super) fn generic_container() -> ResourceType {
    ResourceType::new("OS::Barbican::GenericContainer")
        .about("A set of secrets under names of one's own choice.")
        .service(Service::KeyManager)
        .entity("containers")
        .since("6.0.0")
        .props([
            prop("name", Str),
            prop("secrets", List).each(record([
                prop("name", Str).required(),
                prop("ref", Str).required().is("barbican.secret"),
            ])),
        ])
        .attrs([
            attr("consumers", List),
            attr("container_ref", Str),
            attr("secret_refs", Map),
            attr("status", Str),
        ])
}
