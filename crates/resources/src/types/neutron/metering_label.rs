//! OS::Neutron::MeteringLabel: a label under which traffic through routers is counted.

use super::common::plain;
use crate::declare::*;
use crate::rest::Change;

pub(super) fn metering_label() -> ResourceType {
    ResourceType::new("OS::Neutron::MeteringLabel")
        .about("A label under which traffic through routers is counted.")
        .service(Service::Network)
        .entity("metering_label")
        .observable()
        .since("2014.1")
        .props([
            prop("description", Str),
            prop("name", Str),
            prop("shared", Bool).default(false).since("2015.1"),
        ])
        .attrs([attr("description", Str), attr("name", Str), attr("shared", Str)])
        .plain(
            plain("/metering/metering-labels", "metering_label")
                .undressed()
                .unique(["description", "name"])
                .change(Change::Never),
        )
}
