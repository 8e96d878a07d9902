//! OS::Aodh::GnocchiAggregationByResourcesAlarm: an alarm on one metric aggregated over all
//! resources that a query finds.

use super::common::{any_alarm, gnocchi_rule, on_metrics, rest_alarm};
use crate::declare::*;

pub(super) fn gnocchi_aggregation_by_resources_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::GnocchiAggregationByResourcesAlarm")
        .about("An alarm on one metric aggregated over all resources that a query finds.")
        .detects_drift()
        .since("2015.1")
        .with(any_alarm)
        .with(gnocchi_rule)
        .props([
            prop("metric", Str).required().updatable(),
            prop("query", Str).required().updatable(),
            prop("resource_type", Str).required().updatable(),
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
