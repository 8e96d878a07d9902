//! OS::Blazar::Lease: a reservation of hosts, servers or addresses for a span of time.

use crate::declare::*;

pub(super) fn lease() -> ResourceType {
    ResourceType::new("OS::Blazar::Lease")
        .about("A reservation of hosts, servers or addresses for a span of time.")
        .service(Service::Reservation)
        .entity("lease")
        .since("12.0.0")
        .props([
            prop("before_end_date", Str, "").pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),
            prop("end_date", Str, "").required().pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),
            prop("events", List, "").default_empty().each(record([
                prop("event_type", Str, "").required(),
                prop("time", Str, "").required(),
            ])),
            prop("name", Str, "").required(),
            reservations(),
            prop("start_date", Str, "").required().pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),
        ])
        .attrs([
            attr("created_at", Str, ""),
            attr("degraded", Bool, ""),
            attr("end_date", Str, ""),
            attr("events", List, ""),
            attr("name", Str, ""),
            attr("project_id", Str, ""),
            attr("reservations", List, ""),
            attr("start_date", Str, ""),
            attr("status", Str, ""),
            attr("trust_id", Str, ""),
            attr("updated_at", Str, ""),
            attr("user_id", Str, ""),
        ])
}

fn reservations() -> Prop {
    prop("reservations", List, "").required().each(record([
        prop("affinity", Bool, "").default(false),
        prop("amount", Int, "").range(0, 2147483647),
        prop("before_end", Str, "").default("default").one_of(["default", "snapshot"]),
        prop("disk_gb", Int, "").range(0, 2147483647),
        prop("hypervisor_properties", Str, ""),
        prop("max", Int, "").min(1),
        prop("memory_mb", Int, "").range(0, 2147483647),
        prop("min", Int, "").min(1),
        prop("resource_properties", Str, ""),
        prop("resource_type", Str, "").required().one_of(["virtual:instance", "physical:host"]),
        prop("vcpus", Int, "").range(0, 2147483647),
    ]))
}
