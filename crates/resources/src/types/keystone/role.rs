//! OS::Keystone::Role: a role that users and groups can be assigned.

use crate::declare::*;

pub(super) fn role() -> ResourceType {
    ResourceType::new("OS::Keystone::Role")
        .about("A role that users and groups can be assigned.")
        .service(Service::Identity)
        .entity("roles")
        .since("2015.1")
        .props([
            prop("domain", Str).is("keystone.domain").by_name().since("16.0.0"),
            prop("name", Str).updatable(),
        ])
}
