//! OS::Heat::CWLiteAlarm: an alarm in CloudWatch terms that the engine itself kept, in older releases.
//!
//! It keeps its rule like any record; nobody measures against it.

use crate::declare::*;
use crate::types::aws_cloudwatch::{COMPARISONS, STATISTICS, UNITS};

pub(super) fn cw_lite_alarm() -> ResourceType {
    ResourceType::new("OS::Heat::CWLiteAlarm")
        .about("An alarm in CloudWatch terms that the engine itself kept, in older releases.")
        .checkable()
        .deprecated("2014.2")
        .hidden("5.0.0")
        .note("Use OS::Aodh::GnocchiAggregationByResourcesAlarm.")
        .props([
            prop("AlarmActions", List).updatable(),
            prop("AlarmDescription", Str).updatable(),
            prop("ComparisonOperator", Str).required().updatable().one_of(COMPARISONS),
            prop("Dimensions", List),
            prop("EvaluationPeriods", Str).required().updatable(),
            prop("InsufficientDataActions", List).updatable(),
            prop("MetricName", Str).required(),
            prop("Namespace", Str),
            prop("OKActions", List).updatable(),
            prop("Period", Str).required().updatable(),
            prop("Statistic", Str).required().updatable().one_of(STATISTICS),
            prop("Threshold", Str).required().updatable(),
            prop("Units", Str).updatable().one_of(UNITS),
        ])
        .named_only()
}
