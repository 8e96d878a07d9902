//! OS::Neutron::QoSMinimumPacketRateRule: the packet rate that a quality-of-service policy
//! guarantees.

use super::common::qos_rule;
use super::fragments::qos_policy_prop;
use crate::declare::*;
use crate::types::fragments::tenant_id_prop;

pub(super) fn qos_minimum_packet_rate_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSMinimumPacketRateRule")
        .about("The packet rate that a quality-of-service policy guarantees.")
        .service(Service::Network)
        .extension("qos-pps-minimum")
        .entity("minimum_packet_rate_rule")
        .detects_drift()
        .since("19.0.0")
        .props([
            prop(
                "direction",
                Str,
                "Traffic that has the guarantee: `egress`, `ingress`, or `any` for both together.",
            )
            .updatable()
            .default("egress")
            .one_of(["any", "egress", "ingress"]),
            prop("min_kpps", Int, "Guaranteed rate, in thousands of packets per second.")
                .required()
                .updatable()
                .min(0),
            qos_policy_prop(),
            tenant_id_prop(),
        ])
        .rest(
            qos_rule(
                "/qos/policies/{policy}/minimum_packet_rate_rules",
                "minimum_packet_rate_rule",
            )
            .unique(["direction"]),
        )
}
