//! OS::Octavia::Pool: the members over which a listener spreads its traffic.

use super::common::{PROTOCOLS, by_tag, is, part};
use crate::declare::*;
use crate::property_access::section;
use crate::refusals::{is_given, may_be_given, one_of};
use crate::types::fragments::{admin_state_up_prop, description_prop, name_prop};

pub(super) fn pool() -> ResourceType {
    ResourceType::new("OS::Octavia::Pool")
        .about("The members over which a listener spreads its traffic.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            admin_state_up_prop(),
            description_prop().updatable().default_empty(),
            prop(
                "lb_algorithm",
                Str,
                "How a member is picked for a connection, such as `ROUND_ROBIN`.",
            )
            .required()
            .updatable()
            .one_of([
                "ROUND_ROBIN",
                "LEAST_CONNECTIONS",
                "SOURCE_IP",
                "SOURCE_IP_PORT",
            ]),
            prop("listener", Str, "Listener that gets this as its default pool, by name or ID.")
                .is(LISTENER)
                .by_name(),
            prop(
                "loadbalancer",
                Str,
                "Load balancer that the pool belongs to, by name or ID; if no listener is given.",
            )
            .is(LOAD_BALANCER)
            .by_name(),
            name_prop().updatable(),
            prop("protocol", Str, "Protocol spoken with the members.").required().one_of(PROTOCOLS),
            prop(
                "session_persistence",
                Map,
                "How a client is kept on the same member; not at all if omitted.",
            )
            .updatable()
            .members([
                prop(
                    "cookie_name",
                    Str,
                    "Name of the application's cookie to follow; for type `APP_COOKIE`.",
                ),
                prop(
                    "type",
                    Str,
                    "What a client is recognised by: its address, or one of two kinds of cookie.",
                )
                .required()
                .one_of(["SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE"]),
            ]),
            prop("tls_enabled", Bool, "Whether connections to the members are encrypted.")
                .updatable()
                .default(false)
                .since("14.0.0"),
        ])
        .attrs([
            attr(
                "healthmonitor_id",
                Str,
                "ID of the health monitor that checks the members, if any.",
            ),
            attr("listeners", Str, "Listeners that use the pool."),
            attr("members", List, "Members that the pool currently has.").uncached(),
        ])
        .check(check)
        .finder(by_tag)
        .rest(
            part("/lbaas/pools", "pool")
                .field("listener", "listener_id")
                .field("loadbalancer", "loadbalancer_id"),
        )
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
