//! OS::Neutron::QoSBandwidthLimitRule: a limit on the bandwidth that a quality-of-service policy
//! grants.

use super::common::qos_rule;
use crate::declare::*;

pub(super) fn qos_bandwidth_limit_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSBandwidthLimitRule")
        .about("A limit on the bandwidth that a quality-of-service policy grants.")
        .service(Service::Network)
        .extension("qos")
        .entity("bandwidth_limit_rule")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop("direction", Str)
                .updatable()
                .default("egress")
                .one_of(["egress", "ingress"])
                .since("13.0.0"),
            prop("max_burst_kbps", Int).updatable().default(0).min(0),
            prop("max_kbps", Int).required().updatable().min(0),
            prop("policy", Str).required().is("neutron.qos_policy"),
            prop("tenant_id", Str),
        ])
        .rest(
            qos_rule("/qos/policies/{policy}/bandwidth_limit_rules", "bandwidth_limit_rule")
                .unique(["direction"]),
        )
}
