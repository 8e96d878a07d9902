//! OS::Octavia::Pool: the members over which a listener spreads its traffic.

use super::common::{by_tag, is, part};
use crate::declare::*;
use crate::property_access::section;
use crate::refusals::{is_given, may_be_given, one_of};

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
        .check(check)
        .finder(by_tag)
        .rest(part("/lbaas/pools", "pool"))
}

fn check(members: &Members) -> Result<(), PropertyError> {
    one_of(members, &["listener", "loadbalancer"])?;
    let Some(persistence) = section(members, "session_persistence") else { return Ok(()) };
    if is(persistence, "type", "APP_COOKIE") && !may_be_given(persistence, "cookie_name") {
        let message =
            "Property cookie_name is required when session_persistence type is set to APP_COOKIE.";
        return Err(PropertyError::new(message));
    }
    if is(persistence, "type", "SOURCE_IP") && is_given(persistence, "cookie_name") {
        let message = "Property cookie_name must NOT be specified when session_persistence type is set to SOURCE_IP.";
        return Err(PropertyError::new(message));
    }
    Ok(())
}
