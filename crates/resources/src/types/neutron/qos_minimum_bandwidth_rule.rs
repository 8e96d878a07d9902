//! OS::Neutron::QoSMinimumBandwidthRule: the bandwidth that a quality-of-service policy guarantees.

use super::common::qos_rule;
use crate::declare::*;

pub(super) fn qos_minimum_bandwidth_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSMinimumBandwidthRule")
        .about("The bandwidth that a quality-of-service policy guarantees.")
        .service(Service::Network)
        .extension("qos-bw-minimum-ingress")
        .entity("minimum_bandwidth_rule")
        .detects_drift()
        .since("14.0.0")
        .props([
            prop("direction", Str).updatable().default("egress").one_of(["egress", "ingress"]),
            prop("min_kbps", Int).required().updatable().min(0),
            prop("policy", Str).required().is("neutron.qos_policy"),
            prop("tenant_id", Str),
        ])
        .rest(
            qos_rule("/qos/policies/{policy}/minimum_bandwidth_rules", "minimum_bandwidth_rule")
                .unique(["direction"]),
        )
}
