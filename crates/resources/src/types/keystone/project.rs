//! OS::Keystone::Project: a project, which owns the objects of the cloud.

use crate::declare::*;

pub(super) fn project() -> ResourceType {
    ResourceType::new("OS::Keystone::Project")
        .about("A project, which owns the objects of the cloud.")
        .service(Service::Identity)
        .entity("projects")
        .observable()
        .since("2015.1")
        .props([
            prop("description", Str).updatable().default_empty(),
            prop("domain", Str).updatable().default("default").is("keystone.domain").by_name(),
            prop("enabled", Bool).updatable().default(true),
            prop("name", Str).updatable(),
            prop("parent", Str).is("keystone.project").by_name().since("6.0.0"),
            prop("tags", List).updatable().default_empty().since("10.0.0"),
        ])
        .attrs([
            attr("domain_id", Str).since("10.0.0"),
            attr("enabled", Bool).since("10.0.0"),
            attr("is_domain", Bool).since("10.0.0"),
            attr("name", Str).since("10.0.0"),
            attr("parent_id", Str).since("10.0.0"),
        ])
}
