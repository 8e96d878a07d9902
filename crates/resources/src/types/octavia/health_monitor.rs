//! OS::Octavia::HealthMonitor: the test that decides which members of a pool get traffic.

use super::common::{by_tag, part};
use crate::declare::*;
use crate::types::fragments::{admin_state_up_prop, tenant_id_prop};

pub(super) fn health_monitor() -> ResourceType {
    ResourceType::new("OS::Octavia::HealthMonitor")
        .about("The test that decides which members of a pool get traffic.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            admin_state_up_prop(),
            prop("delay", Int, "Seconds between two health checks.").required().updatable().min(0),
            prop(
                "expected_codes",
                Str,
                "HTTP statuses of a healthy member: one, a list or a range, such as `200-204`.",
            )
            .updatable(),
            prop("http_method", Str, "Method of the HTTP request that checks a member.")
                .updatable()
                .one_of([
                    "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PATCH",
                ]),
            prop(
                "max_retries",
                Int,
                "Successful checks after which a member is online again, 1 to 10.",
            )
            .required()
            .updatable()
            .range(1, 10),
            prop("pool", Str, "Pool whose members are checked, by name or ID.")
                .required()
                .is(POOL)
                .by_name(),
            tenant_id_prop(),
            prop(
                "timeout",
                Int,
                "Seconds to wait for an answer to a check; should be less than `delay`.",
            )
            .required()
            .updatable()
            .min(0),
            prop("type", Str, "How members are checked, such as `PING`, `TCP` or `HTTP`.")
                .required()
                .one_of(["PING", "TCP", "HTTP", "HTTPS", "UDP-CONNECT"]),
            prop(
                "url_path",
                Str,
                "Path of the HTTP request that checks a member, beginning with a slash.",
            )
            .updatable(),
        ])
        .attrs([attr("pools", List, "Pools that the monitor checks.")])
        .finder(by_tag)
        .rest(
            part("/lbaas/healthmonitors", "healthmonitor")
                .field("pool", "pool_id")
                .field("tenant_id", "project_id"),
        )
}
