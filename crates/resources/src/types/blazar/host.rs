//! OS::Blazar::Host: a compute host that may be reserved.

use crate::declare::*;

pub(super) fn host() -> ResourceType {
    ResourceType::new("OS::Blazar::Host")
        .about("A compute host that may be reserved.")
        .service(Service::Reservation)
        .entity("host")
        .since("12.0.0")
        .props([prop("extra_capability", Map), prop("name", Str).required()])
        .attrs([
            attr("cpu_info", Map),
            attr("created_at", Str),
            attr("extra_capability", Map),
            attr("hypervisor_hostname", Str),
            attr("hypervisor_type", Str),
            attr("hypervisor_version", Int),
            attr("local_gb", Int),
            attr("memory_mb", Int),
            attr("reservable", Bool),
            attr("service_name", Str),
            attr("status", Str),
            attr("trust_id", Str),
            attr("updated_at", Str),
            attr("vcpus", Int),
        ])
}
