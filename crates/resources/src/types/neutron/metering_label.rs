//! OS::Neutron::MeteringLabel: a label under which traffic through routers is counted.

use super::common::rest_spec;
use super::fragments::description_attr;
use crate::declare::*;
use crate::rest::UpdateMethod;
use crate::types::fragments::{description_prop, name_attr, name_prop};

pub(super) fn metering_label() -> ResourceType {
    ResourceType::new("OS::Neutron::MeteringLabel")
        .about("A label under which traffic through routers is counted.")
        .service(Service::Network)
        .entity("metering_label")
        .detects_drift()
        .since("2014.1")
        .props([
            description_prop(),
            name_prop(),
            prop(
                "shared",
                Bool,
                "Whether the label counts the traffic of all projects; administrators only.",
            )
            .default(false)
            .since("2015.1"),
        ])
        .attrs([
            description_attr(),
            name_attr(),
            attr("shared", Str, "Whether the label counts the traffic of all projects."),
        ])
        .rest(
            rest_spec("/metering/metering-labels", "metering_label")
                .keeps_mark()
                .unique(["description", "name"])
                .update_method(UpdateMethod::Never),
        )
}
