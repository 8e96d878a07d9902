//! AWS::CloudWatch::Alarm: an alarm on a metric, given in CloudWatch terms and kept by the alarming
//! service.

use super::{COMPARISONS, STATISTICS, UNITS};
use crate::declare::*;

pub(super) fn alarm() -> ResourceType {
    ResourceType::new("AWS::CloudWatch::Alarm")
        .about("An alarm on a metric, given in CloudWatch terms and kept by the alarming service.")
        .template("etc/heat/templates/AWS_CloudWatch_Alarm.yaml")
        .props([
            prop("AlarmActions", List).updatable(),
            prop("AlarmDescription", Str).updatable(),
            prop("ComparisonOperator", Str).required().updatable().one_of(COMPARISONS),
            prop("Dimensions", List).updatable(),
            prop("EvaluationPeriods", Str).required().updatable(),
            prop("InsufficientDataActions", List).updatable(),
            prop("MetricName", Str).required().updatable(),
            prop("Namespace", Str).updatable(),
            prop("OKActions", List).updatable(),
            prop("Period", Str).required().updatable(),
            prop("Statistic", Str).required().updatable().one_of(STATISTICS),
            prop("Threshold", Str).required().updatable(),
            prop("Units", Str).updatable().one_of(UNITS),
        ])
        .attrs([])
}
