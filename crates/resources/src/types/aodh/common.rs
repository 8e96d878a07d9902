//! What alarms have in common.

use crate::declare::*;

/// How a value may be compared with a threshold.
pub(super) const OPERATORS: [&str; 6] = ["le", "ge", "eq", "lt", "gt", "ne"];

/// What every alarm has beside its rule: whom to tell, when to look, and whether to.
pub(super) fn any_alarm(kind: ResourceType) -> ResourceType {
    kind.service(Service::Alarming).entity("alarm").checkable().suspendable().props([
        prop("alarm_actions", List).updatable(),
        queues("alarm_queues"),
        prop("description", Str).updatable(),
        prop("enabled", Bool).updatable().default("true"),
        prop("insufficient_data_actions", List).updatable(),
        queues("insufficient_data_queues"),
        prop("ok_actions", List).updatable(),
        queues("ok_queues"),
        prop("repeat_actions", Bool).updatable().default("true"),
        prop("severity", Str)
            .updatable()
            .default("low")
            .one_of(["low", "moderate", "critical"])
            .since("5.0.0"),
        prop("time_constraints", List).default_empty().since("5.0.0").each(record([
            prop("description", Str),
            prop("duration", Int).required().min(0),
            prop("name", Str).required(),
            prop("start", Str).required().is("cron_expression"),
            prop("timezone", Str).is("timezone"),
        ])),
    ])
}

/// What every rule on metrics of Gnocchi has.
pub(super) fn gnocchi_rule(kind: ResourceType) -> ResourceType {
    kind.props([
        prop("aggregation_method", Str).updatable(),
        prop("comparison_operator", Str).updatable().one_of(OPERATORS),
        prop("evaluation_periods", Int).updatable(),
        prop("granularity", Int).updatable(),
        prop("threshold", Num).required().updatable(),
    ])
}

fn queues(name: &'static str) -> Prop {
    prop(name, List).updatable().default_empty().since("8.0.0").each(item(Str).is("zaqar.queue"))
}
