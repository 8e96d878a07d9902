//! Alarms in AWS terms: `AWS::CloudWatch::*`.

use crate::declare::ResourceType;

mod alarm;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![alarm::alarm()]
}

/// How a statistic is compared with a threshold.
pub(crate) const COMPARISONS: [&str; 4] = [
    "GreaterThanOrEqualToThreshold",
    "GreaterThanThreshold",
    "LessThanThreshold",
    "LessThanOrEqualToThreshold",
];

/// What is made of the samples of a period.
pub(crate) const STATISTICS: [&str; 5] = ["SampleCount", "Average", "Sum", "Minimum", "Maximum"];

/// What samples are measured in.
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
