//! OS::Aodh::Alarm: an alarm that fires when a statistic of a meter crosses a threshold.

use super::common::{OPERATORS, any_alarm, condition, matching, rest_alarm, value_type, whole};
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
        .works_without_service()
        .props([
            prop("comparison_operator", Str, "How the statistic is compared with the threshold, such as `gt` for greater than.").updatable().one_of(OPERATORS),
            prop("evaluation_periods", Int, "Number of periods in a row in which the comparison must hold before the alarm fires.").updatable(),
            prop("matching_metadata", Map, "Metadata keys and values that a sample must have to be counted.").updatable().default_empty(),
            prop("meter_name", Str, "Meter whose samples the alarm watches, such as `cpu_util`.").required(),
            prop("period", Int, "Seconds over which samples are combined into one statistic.").updatable(),
            prop("query", List, "Conditions that samples must meet to be counted, joined with and.").updatable().since("2015.1").each(condition("Field of the sample that the condition looks at.", value_type().since("8.0.0"))),
            prop("statistic", Str, "What is computed from the samples of a period.").updatable().one_of(["count", "avg", "sum", "min", "max"]),
            prop("threshold", Num, "Number that the statistic is compared with.").required().updatable(),
        ]);
    rest_alarm(kind, |op, _, fields| {
        whole(op, fields, "threshold", &RULE);
        fields["threshold_rule"]["query"] = matching(op);
    })
}

const RULE: [&str; 6] =
    ["comparison_operator", "evaluation_periods", "meter_name", "period", "statistic", "threshold"];
