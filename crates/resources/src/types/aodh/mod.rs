//! Alarms: `OS::Aodh::*`.

use crate::declare::ResourceType;

mod alarm;
mod combination_alarm;
mod common;
mod composite_alarm;
mod event_alarm;
mod gnocchi_aggregation_by_metrics_alarm;
mod gnocchi_aggregation_by_resources_alarm;
mod gnocchi_resources_alarm;
mod lb_member_health_alarm;
mod prometheus_alarm;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        alarm::alarm(),
        combination_alarm::combination_alarm(),
        composite_alarm::composite_alarm(),
        event_alarm::event_alarm(),
        gnocchi_aggregation_by_metrics_alarm::gnocchi_aggregation_by_metrics_alarm(),
        gnocchi_aggregation_by_resources_alarm::gnocchi_aggregation_by_resources_alarm(),
        gnocchi_resources_alarm::gnocchi_resources_alarm(),
        lb_member_health_alarm::lb_member_health_alarm(),
        prometheus_alarm::prometheus_alarm(),
    ]
}
