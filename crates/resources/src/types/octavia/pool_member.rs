//! OS::Octavia::PoolMember: one server of a load balancer pool.

use super::common::part;
use crate::declare::*;
use crate::rest::RestSpec;
use crate::types::fragments::{admin_state_up_prop, tags_prop};

pub(super) fn pool_member() -> ResourceType {
    ResourceType::new("OS::Octavia::PoolMember")
        .about("One server of a load balancer pool.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("address", Str, "IP address of the server.").required().is(IP_ADDR),
            admin_state_up_prop(),
            prop(
                "monitor_address",
                Str,
                "Address for health checks, if other than the server's own.",
            )
            .is(IP_ADDR),
            prop("monitor_port", Int, "Port for health checks, if other than `protocol_port`.")
                .range(1, 65535),
            prop("pool", Str, "Pool that the server joins, by name or ID.")
                .required()
                .is(POOL)
                .by_name(),
            prop("protocol_port", Int, "Port on which the server takes traffic, 1 to 65535.")
                .required()
                .range(1, 65535),
            prop("subnet", Str, "Subnet from which the server can be reached, by name or ID.")
                .is(SUBNET)
                .by_name(),
            tags_prop().updatable().since("13.0.0"),
            prop(
                "weight",
                Int,
                "Share of the traffic relative to other members, 0 to 256; 0 means none.",
            )
            .updatable()
            .default(1)
            .range(0, 256),
        ])
        .rest(RestSpec {
            adjust_fields: None,
            ..part("/lbaas/pools/{pool}/members", "member")
                .field("subnet", "subnet_id")
                // Members have no name in templates, and each change of one makes the load balancer start again.
                .keeps_mark()
                .mark_field("name")
        })
}
