//! AWS::CloudWatch::Alarm: an alarm on a metric, given in CloudWatch terms and kept by the alarming
//! service.

use super::{STATISTICS, any_alarm};
use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::property_access::{given, items, open, text};
use crate::types::shipped;

pub(super) fn alarm() -> ResourceType {
    ResourceType::new("AWS::CloudWatch::Alarm")
        .about("An alarm on a metric, given in CloudWatch terms and kept by the alarming service.")
        .template("etc/heat/templates/AWS_CloudWatch_Alarm.yaml")
        .with(any_alarm)
        .props([
            prop(
                "AlarmActions",
                List,
                "URLs called when the alarm fires, usually references to scaling policies.",
            )
            .updatable(),
            prop(
                "Dimensions",
                List,
                "Metadata keys and values that a sample must have to be counted.",
            )
            .updatable(),
            prop(
                "InsufficientDataActions",
                List,
                "URLs called when there are too few data to decide whether the alarm fires.",
            )
            .updatable(),
            prop("MetricName", Str, "Name of the metric that the alarm watches.")
                .required()
                .updatable(),
            prop(
                "Namespace",
                Str,
                "CloudWatch namespace of the metric; it is accepted and ignored.",
            )
            .updatable(),
            prop("OKActions", List, "URLs called when the alarm is back to normal.").updatable(),
            prop("Period", Str, "Seconds over which samples are combined into one statistic.")
                .required()
                .updatable(),
            prop("Statistic", Str, "What is computed from the samples of a period.")
                .required()
                .updatable()
                .one_of(STATISTICS),
        ])
        .attrs([])
        .nested()
        .staged(|group| Ok(Stage { template: template(group), is_last: true, ..Stage::default() }))
        .reference(shipped::reference)
}

/// Values of CloudWatch, with those of the alarming service.
const WORDS: [(&str, &str); 9] = [
    ("Average", "avg"),
    ("GreaterThanOrEqualToThreshold", "ge"),
    ("GreaterThanThreshold", "gt"),
    ("LessThanOrEqualToThreshold", "le"),
    ("LessThanThreshold", "lt"),
    ("Maximum", "max"),
    ("Minimum", "min"),
    ("SampleCount", "count"),
    ("Sum", "sum"),
];

/// Properties that only have another name in `OS::Aodh::Alarm`.
const RENAMED: [(&str, &str); 8] = [
    ("AlarmActions", "alarm_actions"),
    ("AlarmDescription", "description"),
    ("EvaluationPeriods", "evaluation_periods"),
    ("InsufficientDataActions", "insufficient_data_actions"),
    ("MetricName", "meter_name"),
    ("OKActions", "ok_actions"),
    ("Period", "period"),
    ("Threshold", "threshold"),
];

/// The template of the nested stack, which has the alarm.
fn template(group: &Group<'_>) -> Value {
    let mut properties = Members::new();
    for (name, there) in RENAMED {
        if let Some(value) = given(group.properties, name) {
            properties.insert(there.into(), value.clone());
        }
    }
    for (name, there) in [("ComparisonOperator", "comparison_operator"), ("Statistic", "statistic")]
    {
        let word = text(group.properties, name).unwrap_or_default();
        if let Some((_, word)) = WORDS.iter().find(|(here, _)| *here == word) {
            properties.insert(there.into(), Value::from(*word));
        }
    }
    properties.insert("matching_metadata".into(), Value::Map(dimensions(group.properties).into()));
    let alarm = Value::map([
        ("type", Value::from("OS::Aodh::Alarm")),
        ("properties", Value::Map(properties.into())),
    ]);
    Value::map([
        ("heat_template_version", Value::from("2013-05-23")),
        ("resources", Value::map([("__alarm__", alarm)])),
    ])
}

/// The dimensions of the metric as metadata: only samples with these values count.
fn dimensions(properties: &Members) -> Members {
    let mut found = Members::new();
    for dimension in items(properties, "Dimensions") {
        let Some(dimension) = open(dimension).as_map() else { continue };
        match (dimension.get("Name").and_then(Value::as_text), dimension.get("Value")) {
            (Some(name), Some(value)) => _ = found.insert(name.clone(), value.clone()),
            _ => found.extend(dimension.iter().map(|(name, value)| (name.clone(), value.clone()))),
        }
    }
    found
}
