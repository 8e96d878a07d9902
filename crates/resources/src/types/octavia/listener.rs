//! OS::Octavia::Listener: a port on which a load balancer takes traffic.

use super::common::{PROTOCOLS, by_tag, is, part};
use crate::declare::*;
use crate::refusals::may_be_given;
use crate::types::fragments::{admin_state_up_prop, description_prop, name_prop, tenant_id_prop};

pub(super) fn listener() -> ResourceType {
    ResourceType::new("OS::Octavia::Listener")
        .about("A port on which a load balancer takes traffic.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            admin_state_up_prop(),
            prop("allowed_cidrs", List, "Client networks that may connect, in CIDR notation; everyone if omitted.").updatable().since("14.0.0").each(item(Str).is(NET_CIDR)),
            prop("connection_limit", Int, "Most connections at one time; -1 for as many as possible.").updatable().default(-1).min(-1),
            prop("default_pool", Str, "Pool for requests that no layer-7 policy redirects, by name or ID.").updatable().is(POOL).by_name(),
            prop("default_tls_container_ref", Str, "Reference to the Barbican secret with certificate and key; needed for `TERMINATED_HTTPS`.").updatable(),
            description_prop().updatable().default_empty(),
            prop("loadbalancer", Str, "Load balancer that the listener belongs to, by name or ID.").required().is(LOAD_BALANCER).by_name(),
            name_prop().updatable(),
            prop("protocol", Str, "Protocol of the traffic; `TERMINATED_HTTPS` decrypts at the load balancer.").required().one_of(PROTOCOLS),
            prop("protocol_port", Int, "Port to listen on, 1 to 65535.").required().range(1, 65535),
            prop("sni_container_refs", List, "References to Barbican secrets with certificates for further host names (SNI).").updatable(),
            tenant_id_prop(),
        ])
        .attrs([attr("default_pool_id", Str, "ID of the listener's default pool, if any."), attr("loadbalancers", List, "Load balancers that the listener belongs to.")])
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
        .rest(part("/lbaas/listeners", "listener").field("default_pool", "default_pool_id").field("loadbalancer", "loadbalancer_id").field("tenant_id", "project_id"))
}
