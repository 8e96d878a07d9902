//! OS::Neutron::Quota: the limits on networks, ports, routers and other network objects of a
//! project.

use crate::declare::*;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Neutron::Quota")
        .about("The limits on networks, ports, routers and other network objects of a project.")
        .service(Service::Network)
        .extension("quotas")
        .since("8.0.0")
        .props([
            prop("floatingip", Int).updatable().min(-1),
            prop("network", Int).updatable().min(-1),
            prop("port", Int).updatable().min(-1),
            prop("project", Str).required().is("keystone.project").by_name(),
            prop("rbac_policy", Int).updatable().min(-1).since("12.0.0"),
            prop("router", Int).updatable().min(-1),
            prop("security_group", Int).updatable().min(-1),
            prop("security_group_rule", Int).updatable().min(-1),
            prop("subnet", Int).updatable().min(-1),
            prop("subnetpool", Int).updatable().min(-1).since("12.0.0"),
        ])
}
