//! OS::Neutron::QoSMinimumBandwidthRule: the bandwidth that a quality-of-service policy guarantees.

use super::common::qos_rule;
use super::fragments::qos_policy_prop;
use crate::declare::*;
use crate::types::fragments::tenant_id_prop;

pub(super) fn qos_minimum_bandwidth_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSMinimumBandwidthRule")
        .about("The bandwidth that a quality-of-service policy guarantees.")
        .service(Service::Network)
        .extension("qos-bw-minimum-ingress")
        .entity("minimum_bandwidth_rule")
        .detects_drift()
        .since("14.0.0")
        .props([
            prop(
                "direction",
                Str,
                "Traffic that has the guarantee: from the server (`egress`) or to it (`ingress`).",
            )
            .updatable()
            .default("egress")
            .one_of(["egress", "ingress"]),
            prop("min_kbps", Int, "Guaranteed rate, in kilobits per second.")
                .required()
                .updatable()
                .min(0),
            qos_policy_prop(),
            tenant_id_prop(),
        ])
        .rest(
            qos_rule("/qos/policies/{policy}/minimum_bandwidth_rules", "minimum_bandwidth_rule")
                .unique(["direction"]),
        )
}
