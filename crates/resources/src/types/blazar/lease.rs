//! OS::Blazar::Lease: a reservation of hosts, servers or addresses for a span of time.

use crate::declare::*;
use crate::lookup::rules::LEASABLE_HOST;
use crate::refusals::holds;
use crate::rest::{Readiness, RestSpec, UpdateMethod};
use serde_json::Value as Json;

pub(super) fn lease() -> ResourceType {
    ResourceType::new("OS::Blazar::Lease")
        .about("A reservation of hosts, servers or addresses for a span of time.")
        .service(Service::Reservation)
        .entity("lease")
        .since("12.0.0")
        .props([
            prop("before_end_date", Str, "Time at which the action before the end takes place, as `YYYY-MM-DD HH:MM` in UTC.").pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),
            prop("end_date", Str, "Time at which the lease ends, as `YYYY-MM-DD HH:MM` in UTC.").required().pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),
            prop("events", List, "Events of the lease that are planned beside its start and end.")
                .default_empty()
                .each(record([prop("event_type", Str, "Kind of event, such as `before_end_lease`.").required(), prop("time", Str, "Time at which the event takes place.").required()])),
            prop("name", Str, "Name of the lease.").required(),
            reservations(),
            prop("start_date", Str, "Time at which the lease begins, as `YYYY-MM-DD HH:MM` in UTC.").required().pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),
        ])
        .attrs([
            attr("created_at", Str, "Time at which the lease was requested."),
            attr("degraded", Bool, "Whether some of the reserved capacity is missing because of a host failure."),
            attr("end_date", Str, "Time at which the lease ends."),
            attr("events", List, "Events of the lease with their types, times and states."),
            attr("name", Str, "Name of the lease."),
            attr("project_id", Str, "ID of the project that owns the lease."),
            attr("reservations", List, "Reservations of the lease, each with its ID and state."),
            attr("start_date", Str, "Time at which the lease begins."),
            attr("status", Str, "State of the lease, such as `PENDING` or `ACTIVE`."),
            attr("trust_id", Str, "ID of the trust with which the reservation service acts for the user."),
            attr("updated_at", Str, "Time of the last change to the lease."),
            attr("user_id", Str, "ID of the user who requested the lease."),
        ])
        .check_with_siblings(|_, siblings| match siblings.has_type("OS::Blazar::Host") {
            // The stack makes a host.
            true => Ok(()),
            false => holds(siblings, LEASABLE_HOST, ""),
        })
        .rest(
            RestSpec::new(Service::Reservation, "/leases", "lease")
                .bare_requests()
                .list_suffix("")
                .update_method(UpdateMethod::Never)
                // A lease that starts later is `PENDING` until then.
                .readiness(Readiness::when(
                    "status",
                    ["PENDING", "ACTIVE", "TERMINATED"],
                    ["ERROR"],
                ))
                .adjust_fields(|_, _, fields| {
                    let reservations = fields.get_mut("reservations").and_then(Json::as_array_mut);
                    reservations.into_iter().flatten().for_each(cut);
                }),
        )
}

fn reservations() -> Prop {
    prop("reservations", List, "Hosts or servers that the lease sets aside.").required().each(
        record([
            prop("affinity", Bool, "Whether the reserved servers are placed on the same host.")
                .default(false),
            prop("amount", Int, "Number of servers to reserve room for.").range(0, 2147483647),
            prop(
                "before_end",
                Str,
                "What happens to running servers shortly before the end: nothing or a snapshot.",
            )
            .default("default")
            .one_of(["default", "snapshot"]),
            prop("disk_gb", Int, "Disk size of each reserved server in GiB.").range(0, 2147483647),
            prop(
                "hypervisor_properties",
                Str,
                "JSON condition on hypervisors that reserved hosts must meet.",
            ),
            prop("max", Int, "Largest number of hosts to reserve.").min(1),
            prop("memory_mb", Int, "Memory of each reserved server in MiB.").range(0, 2147483647),
            prop("min", Int, "Smallest number of hosts with which the reservation is acceptable.")
                .min(1),
            prop(
                "resource_properties",
                Str,
                "JSON condition on extra capabilities that reserved hosts must meet.",
            ),
            prop("resource_type", Str, "Whether whole hosts or room for servers is reserved.")
                .required()
                .one_of(["virtual:instance", "physical:host"]),
            prop("vcpus", Int, "Number of virtual CPUs of each reserved server.")
                .range(0, 2147483647),
        ]),
    )
}

/// Removes the fields that this type of reservation does not have.
fn cut(reservation: &mut Json) {
    let known: &[&str] = match reservation["resource_type"].as_str() {
        Some("virtual:instance") => &[
            "affinity",
            "amount",
            "disk_gb",
            "memory_mb",
            "resource_properties",
            "resource_type",
            "vcpus",
        ],
        _ => &[
            "before_end",
            "hypervisor_properties",
            "max",
            "min",
            "resource_properties",
            "resource_type",
        ],
    };
    if let Some(members) = reservation.as_object_mut() {
        members.retain(|name, _| known.contains(&name.as_str()));
    }
}
