//! OS::Octavia::Quota: the limits on load balancing objects of a project.

use crate::declare::*;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Octavia::Quota")
        .about("The limits on load balancing objects of a project.")
        .service(Service::LoadBalancer)
        .entity("quotas")
        .since("14.0.0")
        .props([
            prop("healthmonitor", Int).updatable().min(-1),
            prop("listener", Int).updatable().min(-1),
            prop("loadbalancer", Int).updatable().min(-1),
            prop("member", Int).updatable().min(-1),
            prop("pool", Int).updatable().min(-1),
            prop("project", Str).required().is("keystone.project").by_name(),
        ])
}
