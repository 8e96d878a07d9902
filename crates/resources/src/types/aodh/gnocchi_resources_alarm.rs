//! OS::Aodh::GnocchiResourcesAlarm: an alarm on one metric of one resource.

use super::common::{gnocchi_alarm, on_metrics, rest_alarm};
use crate::declare::*;

pub(super) fn gnocchi_resources_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::GnocchiResourcesAlarm")
        .about("An alarm on one metric of one resource.")
        .with(gnocchi_alarm)
        .props([
            prop("metric", Str, "Name of the metric of the resource, such as `cpu`.")
                .required()
                .updatable(),
            prop("resource_id", Str, "Gnocchi ID of the resource whose metric is watched.")
                .required()
                .updatable(),
            prop("resource_type", Str, "Gnocchi type of the resource, such as `instance`.")
                .required()
                .updatable(),
        ]);
    rest_alarm(kind, |op, _, fields| {
        on_metrics(
            op,
            fields,
            "gnocchi_resources_threshold",
            &["metric", "resource_id", "resource_type"],
        );
    })
}
