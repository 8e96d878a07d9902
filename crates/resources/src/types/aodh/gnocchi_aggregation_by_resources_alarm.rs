//! OS::Aodh::GnocchiAggregationByResourcesAlarm: an alarm on one metric aggregated over all
//! resources that a query finds.

use super::common::{gnocchi_alarm, on_metrics, rest_alarm};
use crate::declare::*;

pub(super) fn gnocchi_aggregation_by_resources_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::GnocchiAggregationByResourcesAlarm")
        .about("An alarm on one metric aggregated over all resources that a query finds.")
        .with(gnocchi_alarm)
        .props([
            prop("metric", Str, "Name of the metric that is aggregated over the resources found.")
                .required()
                .updatable(),
            prop(
                "query",
                Str,
                "Gnocchi search in JSON text that picks the resources whose metric counts.",
            )
            .required()
            .updatable(),
            prop(
                "resource_type",
                Str,
                "Gnocchi type of the resources that are searched, such as `instance`.",
            )
            .required()
            .updatable(),
        ]);
    rest_alarm(kind, |op, _, fields| {
        on_metrics(
            op,
            fields,
            "gnocchi_aggregation_by_resources_threshold",
            &["metric", "query", "resource_type"],
        );
    })
}
