//! OS::Neutron::QoSBandwidthLimitRule: a limit on the bandwidth that a quality-of-service policy
//! grants.

use super::common::qos_rule;
use super::fragments::qos_policy_prop;
use crate::declare::*;
use crate::types::fragments::tenant_id_prop;

pub(super) fn qos_bandwidth_limit_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSBandwidthLimitRule")
        .about("A limit on the bandwidth that a quality-of-service policy grants.")
        .service(Service::Network)
        .extension("qos")
        .entity("bandwidth_limit_rule")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop(
                "direction",
                Str,
                "Traffic that is limited: from the server (`egress`) or to it (`ingress`).",
            )
            .updatable()
            .default("egress")
            .one_of(["egress", "ingress"])
            .since("13.0.0"),
            prop(
                "max_burst_kbps",
                Int,
                "Size of a burst above the limit, in kilobits; 0 lets the service choose.",
            )
            .updatable()
            .default(0)
            .min(0),
            prop("max_kbps", Int, "Highest sustained rate, in kilobits per second.")
                .required()
                .updatable()
                .min(0),
            qos_policy_prop(),
            tenant_id_prop(),
        ])
        .rest(
            qos_rule("/qos/policies/{policy}/bandwidth_limit_rules", "bandwidth_limit_rule")
                .unique(["direction"]),
        )
}
