//! OS::Aodh::PrometheusAlarm: an alarm on the result of a Prometheus query.

use super::common::{OPERATORS, any_alarm, rest_alarm, whole};
use crate::declare::*;

pub(super) fn prometheus_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::PrometheusAlarm")
        .about("An alarm on the result of a Prometheus query.")
        .detects_drift()
        .since("22.0.0")
        .with(any_alarm)
        .props([
            prop("comparison_operator", Str, "How the query result is compared with the threshold, such as `gt` for greater than.").updatable().one_of(OPERATORS),
            prop("query", Str, "PromQL expression that the alarm evaluates.").required().updatable(),
            prop("threshold", Num, "Number that the query result is compared with.").required().updatable(),
        ]);
    rest_alarm(kind, |op, _, fields| {
        whole(op, fields, "prometheus", &["comparison_operator", "query", "threshold"]);
    })
}
