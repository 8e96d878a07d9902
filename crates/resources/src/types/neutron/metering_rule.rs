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
            prop("direction", Str).default("ingress").one_of(["ingress", "egress"]),
            prop("excluded", Bool).default("False"),
            prop("metering_label_id", Str).required(),
            prop("remote_ip_prefix", Str).required(),
        ])
        .attrs([
            attr("direction", Str),
            attr("excluded", Str),
            attr("metering_label_id", Str),
            attr("remote_ip_prefix", Str),
        ])
        .rest(
            bare("/metering/metering-label-rules", "metering_label_rule")
                .update_method(UpdateMethod::Never)
                .unique(["direction", "metering_label_id", "remote_ip_prefix"]),
        )
}
