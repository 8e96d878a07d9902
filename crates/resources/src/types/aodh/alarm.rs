//! OS::Aodh::Alarm: an alarm that fires when a statistic of a meter crosses a threshold.

use super::common::{OPERATORS, any_alarm, matching, rest_alarm, whole};
use crate::declare::*;

pub(super) fn alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::Alarm")
        .about("An alarm that fires when a statistic of a meter crosses a threshold.")
        .detects_drift()
        .since("2014.1")
        .deprecated("10.0.0")
        .note("Use OS::Aodh::GnocchiAggregationByResourcesAlarm.")
        .still_supported()
        .with(any_alarm)
        .props([
            prop("comparison_operator", Str).updatable().one_of(OPERATORS),
            prop("evaluation_periods", Int).updatable(),
            prop("matching_metadata", Map).updatable().default_empty(),
            prop("meter_name", Str).required(),
            prop("period", Int).updatable(),
            prop("query", List).updatable().since("2015.1").each(record([
                prop("field", Str),
                prop("op", Str).one_of(OPERATORS),
                prop("type", Str)
                    .default("string")
                    .one_of(["integer", "float", "string", "boolean", "datetime"])
                    .since("8.0.0"),
                prop("value", Str),
            ])),
            prop("statistic", Str).updatable().one_of(["count", "avg", "sum", "min", "max"]),
            prop("threshold", Num).required().updatable(),
        ]);
    rest_alarm(kind, |op, _, fields| {
        whole(op, fields, "threshold", &RULE);
        fields["threshold_rule"]["query"] = matching(op);
    })
}

const RULE: [&str; 6] =
    ["comparison_operator", "evaluation_periods", "meter_name", "period", "statistic", "threshold"];
