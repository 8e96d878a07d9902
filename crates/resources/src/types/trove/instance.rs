//! OS::Trove::Instance: a database server run by the database service.

use crate::declare::*;

pub(super) fn instance() -> ResourceType {
    ResourceType::new("OS::Trove::Instance")
        .about("A database server run by the database service.")
        .service(Service::Database)
        .entity("instances")
        .checkable()
        .observable()
        .since("2014.1")
        .props([
            prop("availability_zone", Str),
            prop("databases", List).updatable().default_empty().each(record([
                prop("character_set", Str).default("utf8"),
                prop("collate", Str).default("utf8_general_ci"),
                prop("name", Str)
                    .required()
                    .max_length(64)
                    .pattern(r"[a-zA-Z0-9_\-]+[a-zA-Z0-9_@?#\s\-]*[a-zA-Z0-9_\-]+"),
            ])),
            prop("datastore_type", Str).max_length(255),
            prop("datastore_version", Str).max_length(255),
            prop("flavor", Str).required().updatable().is("trove.flavor").by_name(),
            prop("name", Str).updatable().max_length(255),
            prop("networks", List).default_empty().each(record([
                prop("fixed_ip", Str).is("ip_addr"),
                prop("network", Str).is("neutron.network"),
                prop("port", Str).is("neutron.port"),
            ])),
            prop("replica_count", Int).since("5.0.0"),
            prop("replica_of", Str).since("5.0.0"),
            prop("restore_point", Str),
            prop("size", Int).required().updatable().range(1, 150),
            prop("users", List).updatable().default_empty().each(record([
                prop("databases", List).required().updatable().min_length(1).each(item(Str)),
                prop("host", Str).updatable().default("%"),
                prop("name", Str)
                    .required()
                    .updatable()
                    .max_length(16)
                    .pattern(r"[a-zA-Z0-9_]+[a-zA-Z0-9_@?#\s]*[a-zA-Z0-9_]+"),
                prop("password", Str)
                    .required()
                    .updatable()
                    .pattern(r"[a-zA-Z0-9_]+[a-zA-Z0-9_@?#\s]*[a-zA-Z0-9_]+"),
            ])),
        ])
        .attrs([attr("hostname", Str), attr("href", Str)])
}
