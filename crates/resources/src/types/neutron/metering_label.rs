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
            prop("description", Str, "Free-form text for people; the service gives it no meaning."),
            prop(
                "name",
                Str,
                "Human-readable name; made from the stack and resource names if omitted.",
            ),
            prop(
                "shared",
                Bool,
                "Whether the label counts the traffic of all projects; administrators only.",
            )
            .default(false)
            .since("2015.1"),
        ])
        .attrs([
            attr("description", Str, "Description that the service has on record."),
            attr("name", Str, "Name that the service has on record."),
            attr("shared", Str, "Whether the label counts the traffic of all projects."),
        ])
        .rest(
            rest_spec("/metering/metering-labels", "metering_label")
                .keeps_mark()
                .unique(["description", "name"])
                .update_method(UpdateMethod::Never),
        )
}
