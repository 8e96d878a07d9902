//! Alarms in AWS terms: `AWS::CloudWatch::*`.

use crate::declare::*;

mod alarm;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![alarm::alarm()]
}

/// Declares an alarm in CloudWatch terms, except for what is measured and who is notified.
pub(crate) fn any_alarm(kind: ResourceType) -> ResourceType {
    kind.props([
        prop("AlarmDescription", Str, "Free text that describes the alarm.").updatable(),
        prop("ComparisonOperator", Str, "How the statistic is compared with the threshold.")
            .required()
            .updatable()
            .one_of(COMPARISONS),
        prop(
            "EvaluationPeriods",
            Str,
            "Number of periods in a row in which the comparison must hold before the alarm fires.",
        )
        .required()
        .updatable(),
        prop("Threshold", Str, "Number that the statistic is compared with.")
            .required()
            .updatable(),
        prop("Units", Str, "Unit of the metric; it is accepted and ignored.")
            .updatable()
            .one_of(UNITS),
    ])
}

/// The operators that compare a statistic with a threshold.
const COMPARISONS: [&str; 4] = [
    "GreaterThanOrEqualToThreshold",
    "GreaterThanThreshold",
    "LessThanThreshold",
    "LessThanOrEqualToThreshold",
];

/// The statistics that are computed from the samples of a period.
pub(crate) const STATISTICS: [&str; 5] = ["SampleCount", "Average", "Sum", "Minimum", "Maximum"];

/// The units of samples.
pub const UNITS: [&str; 27] = [
    "Seconds",
    "Microseconds",
    "Milliseconds",
    "Bytes",
    "Kilobytes",
    "Megabytes",
    "Gigabytes",
    "Terabytes",
    "Bits",
    "Kilobits",
    "Megabits",
    "Gigabits",
    "Terabits",
    "Percent",
    "Count",
    "Bytes/Second",
    "Kilobytes/Second",
    "Megabytes/Second",
    "Gigabytes/Second",
    "Terabytes/Second",
    "Bits/Second",
    "Kilobits/Second",
    "Megabits/Second",
    "Gigabits/Second",
    "Terabits/Second",
    "Count/Second",
    "None",
];
