//! OS::Neutron::QoSMinimumPacketRateRule: the packet rate that a quality-of-service policy
//! guarantees.

use super::common::qos_rule;
use crate::declare::*;

pub(super) fn qos_minimum_packet_rate_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSMinimumPacketRateRule")
        .about("The packet rate that a quality-of-service policy guarantees.")
        .service(Service::Network)
        .extension("qos-pps-minimum")
        .entity("minimum_packet_rate_rule")
        .detects_drift()
        .since("19.0.0")
        .props([
            prop("direction", Str)
                .updatable()
                .default("egress")
                .one_of(["any", "egress", "ingress"]),
            prop("min_kpps", Int).required().updatable().min(0),
            prop("policy", Str).required().is("neutron.qos_policy"),
            prop("tenant_id", Str),
        ])
        .rest(
            qos_rule(
                "/qos/policies/{policy}/minimum_packet_rate_rules",
                "minimum_packet_rate_rule",
            )
            .unique(["direction"]),
        )
}
