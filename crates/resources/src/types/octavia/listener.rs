//! OS::Octavia::Listener: a port on which a load balancer takes traffic.

use super::common::{by_tag, is, part};
use crate::declare::*;
use crate::refusals::may_be_given;

pub(super) fn listener() -> ResourceType {
    ResourceType::new("OS::Octavia::Listener")
        .about("A port on which a load balancer takes traffic.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("allowed_cidrs", List).updatable().since("14.0.0").each(item(Str).is("net_cidr")),
            prop("connection_limit", Int).updatable().default(-1).min(-1),
            prop("default_pool", Str).updatable().is("octavia.pool").by_name(),
            prop("default_tls_container_ref", Str).updatable(),
            prop("description", Str).updatable().default_empty(),
            prop("loadbalancer", Str).required().is("octavia.loadbalancer").by_name(),
            prop("name", Str).updatable(),
            prop("protocol", Str).required().one_of([
                "TCP",
                "HTTP",
                "HTTPS",
                "TERMINATED_HTTPS",
                "PROXY",
                "UDP",
            ]),
            prop("protocol_port", Int).required().range(1, 65535),
            prop("sni_container_refs", List).updatable(),
            prop("tenant_id", Str),
        ])
        .attrs([attr("default_pool_id", Str), attr("loadbalancers", List)])
        .check(|members| {
            let is_terminated = is(members, "protocol", "TERMINATED_HTTPS");
            if is_terminated && !may_be_given(members, "default_tls_container_ref") {
                let message =
                    "Property default_tls_container_ref required when protocol is TERMINATED_HTTPS.";
                return Err(PropertyError::new(message));
            }
            Ok(())
        })
        .finder(by_tag)
        .rest(part("/lbaas/listeners", "listener"))
}
