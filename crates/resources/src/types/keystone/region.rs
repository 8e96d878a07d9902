//! OS::Keystone::Region: a region of the cloud, possibly part of another.

use crate::declare::*;

pub(super) fn region() -> ResourceType {
    ResourceType::new("OS::Keystone::Region")
        .about("A region of the cloud, possibly part of another.")
        .service(Service::Identity)
        .entity("regions")
        .observable()
        .since("6.0.0")
        .props([
            prop("description", Str).updatable(),
            prop("enabled", Bool).updatable().default(true),
            prop("id", Str),
            prop("parent_region", Str).updatable().is("keystone.region").by_name(),
        ])
}
