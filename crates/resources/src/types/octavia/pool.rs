//! OS::Octavia::Pool: the members over which a listener spreads its traffic.

use crate::declare::*;

pub(super) fn pool() -> ResourceType {
    ResourceType::new("OS::Octavia::Pool")
        .about("The members over which a listener spreads its traffic.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("description", Str).updatable().default_empty(),
            prop("lb_algorithm", Str).required().updatable().one_of([
                "ROUND_ROBIN",
                "LEAST_CONNECTIONS",
                "SOURCE_IP",
                "SOURCE_IP_PORT",
            ]),
            prop("listener", Str).is("octavia.listener").by_name(),
            prop("loadbalancer", Str).is("octavia.loadbalancer").by_name(),
            prop("name", Str).updatable(),
            prop("protocol", Str).required().one_of([
                "TCP",
                "HTTP",
                "HTTPS",
                "TERMINATED_HTTPS",
                "PROXY",
                "UDP",
            ]),
            prop("session_persistence", Map).updatable().members([
                prop("cookie_name", Str),
                prop("type", Str).required().one_of(["SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE"]),
            ]),
            prop("tls_enabled", Bool).updatable().default(false).since("14.0.0"),
        ])
        .attrs([
            attr("healthmonitor_id", Str),
            attr("listeners", Str),
            attr("members", List).uncached(),
        ])
}
