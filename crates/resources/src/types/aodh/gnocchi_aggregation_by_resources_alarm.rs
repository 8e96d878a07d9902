//! OS::Aodh::GnocchiAggregationByResourcesAlarm: an alarm on one metric aggregated over all
//! resources that a query finds.

use super::common::{any_alarm, gnocchi_rule};
use crate::declare::*;

pub(super) fn gnocchi_aggregation_by_resources_alarm() -> ResourceType {
    ResourceType::new("OS::Aodh::GnocchiAggregationByResourcesAlarm")
        .about("An alarm on one metric aggregated over all resources that a query finds.")
        .observable()
        .since("2015.1")
        .with(any_alarm)
        .with(gnocchi_rule)
        .props([
            prop("metric", Str).required().updatable(),
            prop("query", Str).required().updatable(),
            prop("resource_type", Str).required().updatable(),
        ])
}
