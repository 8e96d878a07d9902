//! OS::Neutron::QoSDscpMarkingRule: the DSCP mark that a quality-of-service policy puts on traffic.

use super::common::qos_rule;
use super::fragments::qos_policy_prop;
use crate::declare::*;
use crate::types::fragments::tenant_id_prop;

pub(super) fn qos_dscp_marking_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSDscpMarkingRule")
        .about("The DSCP mark that a quality-of-service policy puts on traffic.")
        .service(Service::Network)
        .extension("qos")
        .entity("dscp_marking_rule")
        .detects_drift()
        .since("7.0.0")
        .props([
            prop("dscp_mark", Int, "DSCP value written into the IP header of outgoing packets.")
                .required()
                .updatable()
                .one_of([
                    0, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 46, 48,
                    56,
                ]),
            qos_policy_prop(),
            tenant_id_prop(),
        ])
        .rest(
            qos_rule("/qos/policies/{policy}/dscp_marking_rules", "dscp_marking_rule")
                .unique(["dscp_mark"]),
        )
}
