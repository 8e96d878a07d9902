//! OS::Keystone::Domain: a domain, which holds projects, users and groups.

use crate::declare::*;

pub(super) fn domain() -> ResourceType {
    ResourceType::new("OS::Keystone::Domain")
        .about("A domain, which holds projects, users and groups.")
        .service(Service::Identity)
        .entity("domains")
        .observable()
        .since("8.0.0")
        .props([
            prop("description", Str).updatable(),
            prop("enabled", Bool).updatable().default(true),
            prop("name", Str).updatable(),
        ])
}
