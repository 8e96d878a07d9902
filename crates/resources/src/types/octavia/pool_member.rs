//! OS::Octavia::PoolMember: one server of a load balancer pool.

use super::common::part;
use crate::declare::*;
use crate::rest::RestSpec;

pub(super) fn pool_member() -> ResourceType {
    ResourceType::new("OS::Octavia::PoolMember")
        .about("One server of a load balancer pool.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("address", Str).required().is("ip_addr"),
            prop("admin_state_up", Bool).updatable().default(true),
            prop("monitor_address", Str).is("ip_addr"),
            prop("monitor_port", Int).range(1, 65535),
            prop("pool", Str).required().is("octavia.pool").by_name(),
            prop("protocol_port", Int).required().range(1, 65535),
            prop("subnet", Str).is("neutron.subnet").by_name(),
            prop("tags", List).updatable().since("13.0.0"),
            prop("weight", Int).updatable().default(1).range(0, 256),
        ])
        .rest(RestSpec {
            adjust_fields: None,
            ..part("/lbaas/pools/{pool}/members", "member").mark_field("name")
        })
}
