//! OS::Aodh::GnocchiAggregationByMetricsAlarm: an alarm on the aggregate of several metrics named
//! by id.

use super::common::{gnocchi_alarm, on_metrics, rest_alarm};
use crate::declare::*;

pub(super) fn gnocchi_aggregation_by_metrics_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::GnocchiAggregationByMetricsAlarm")
        .about("An alarm on the aggregate of several metrics named by id.")
        .with(gnocchi_alarm)
        .props([prop(
            "metrics",
            List,
            "UUIDs of the metrics whose measures are aggregated together.",
        )
        .required()
        .updatable()]);
    rest_alarm(kind, |op, _, fields| {
        on_metrics(op, fields, "gnocchi_aggregation_by_metrics_threshold", &["metrics"]);
    })
}
