//! OS::Trove::Cluster: a cluster of database instances.

use crate::declare::*;

pub(super) fn cluster() -> ResourceType {
    ResourceType::new("OS::Trove::Cluster")
        .about("A cluster of database instances.")
        .service(Service::Database)
        .entity("clusters")
        .since("2015.1")
        .props([
            prop("datastore_type", Str).required().max_length(255),
            prop("datastore_version", Str).required().max_length(255),
            prop("instances", List).required().each(record([
                prop("availability_zone", Str).since("14.0.0"),
                prop("flavor", Str).required().is("trove.flavor").by_name(),
                prop("networks", List).default_empty().since("10.0.0").each(record([
                    prop("fixed_ip", Str).is("ip_addr"),
                    prop("network", Str).is("neutron.network").by_name(),
                    prop("port", Str).is("neutron.port").by_name(),
                ])),
                prop("volume_size", Int).required().range(1, 150),
            ])),
            prop("name", Str).max_length(255),
        ])
        .attrs([attr("instances", List), attr("ip", List)])
}
