//! OS::Neutron::MeteringRule: a rule that says which traffic counts for a metering label.

use super::common::bare;
use crate::declare::*;
use crate::rest::UpdateMethod;

pub(super) fn metering_rule() -> ResourceType {
    ResourceType::new("OS::Neutron::MeteringRule")
        .about("A rule that says which traffic counts for a metering label.")
        .service(Service::Network)
        .entity("metering_label_rule")
        .detects_drift()
        .since("2014.1")
        .props([
            prop(
                "direction",
                Str,
                "Whether incoming (`ingress`) or outgoing (`egress`) traffic is counted.",
            )
            .default("ingress")
            .one_of(["ingress", "egress"]),
            prop("excluded", Bool, "Whether matching traffic is left out of the label's count.")
                .default("False"),
            prop("metering_label_id", Str, "ID of the label under which the traffic is counted.")
                .required(),
            prop(
                "remote_ip_prefix",
                Str,
                "Remote addresses, in CIDR notation, whose traffic the rule matches.",
            )
            .required(),
        ])
        .attrs([
            attr("direction", Str, "Direction of the traffic that is counted."),
            attr("excluded", Str, "Whether matching traffic is left out."),
            attr("metering_label_id", Str, "ID of the label that the rule belongs to."),
            attr(
                "remote_ip_prefix",
                Str,
                "Remote addresses that the rule matches, in CIDR notation.",
            ),
        ])
        .rest(
            bare("/metering/metering-label-rules", "metering_label_rule")
                .update_method(UpdateMethod::Never)
                .unique(["direction", "metering_label_id", "remote_ip_prefix"]),
        )
}
