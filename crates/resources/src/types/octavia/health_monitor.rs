//! OS::Octavia::HealthMonitor: the test that decides which members of a pool get traffic.

use super::common::{by_tag, part};
use crate::declare::*;

pub(super) fn health_monitor() -> ResourceType {
    ResourceType::new("OS::Octavia::HealthMonitor")
        .about("The test that decides which members of a pool get traffic.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("delay", Int).required().updatable().min(0),
            prop("expected_codes", Str).updatable(),
            prop("http_method", Str).updatable().one_of([
                "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PATCH",
            ]),
            prop("max_retries", Int).required().updatable().range(1, 10),
            prop("pool", Str).required().is("octavia.pool").by_name(),
            prop("tenant_id", Str),
            prop("timeout", Int).required().updatable().min(0),
            prop("type", Str).required().one_of(["PING", "TCP", "HTTP", "HTTPS", "UDP-CONNECT"]),
            prop("url_path", Str).updatable(),
        ])
        .attrs([attr("pools", List)])
        .finder(by_tag)
        .rest(part("/lbaas/healthmonitors", "healthmonitor"))
}
