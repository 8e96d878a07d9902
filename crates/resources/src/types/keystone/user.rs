//! OS::Keystone::User: a user of a domain, with groups and roles.

use crate::declare::*;

pub(super) fn user() -> ResourceType {
    ResourceType::new("OS::Keystone::User")
        .about("A user of a domain, with groups and roles.")
        .service(Service::Identity)
        .entity("users")
        .observable()
        .since("2015.1")
        .props([
            prop("default_project", Str).updatable().is("keystone.project").by_name(),
            prop("description", Str).updatable().default_empty(),
            prop("domain", Str).updatable().default("default").is("keystone.domain").by_name(),
            prop("email", Str).updatable(),
            prop("enabled", Bool).updatable().default(true),
            prop("groups", List).updatable().each(item(Str).is("keystone.group").by_name()),
            prop("name", Str).updatable(),
            prop("password", Str).updatable(),
            prop("roles", List).updatable().each(record([
                prop("domain", Str).is("keystone.domain"),
                prop("project", Str).is("keystone.project"),
                prop("role", Str).required().is("keystone.role"),
            ])),
        ])
        .attrs([
            attr("default_project_id", Str).since("9.0.0"),
            attr("domain_id", Str).since("9.0.0"),
            attr("enabled", Bool).since("9.0.0"),
            attr("name", Str).since("9.0.0"),
            attr("password_expires_at", Str).since("9.0.0"),
        ])
}
