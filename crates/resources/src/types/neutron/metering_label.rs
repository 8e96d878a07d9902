//! OS::Neutron::MeteringLabel: a label under which traffic through routers is counted.

use super::common::rest_spec;
use crate::declare::*;
use crate::rest::UpdateMethod;

pub(super) fn metering_label() -> ResourceType {
    ResourceType::new("OS::Neutron::MeteringLabel")
        .about("A label under which traffic through routers is counted.")
        .service(Service::Network)
        .entity("metering_label")
        .detects_drift()
        .since("2014.1")
        .props([
            prop("description", Str),
            prop("name", Str),
            prop("shared", Bool).default(false).since("2015.1"),
        ])
        .attrs([attr("description", Str), attr("name", Str), attr("shared", Str)])
        .rest(
            rest_spec("/metering/metering-labels", "metering_label")
                .keeps_mark()
                .unique(["description", "name"])
                .update_method(UpdateMethod::Never),
        )
}
