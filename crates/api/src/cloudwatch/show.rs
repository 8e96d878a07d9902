//! Alarms as the old service showed them.

use crate::request::moment;
use kiln_engine::alarms::{Alarm, dimensions};
use kiln_template::Value;

/// An alarm with all members; those that are not set are null.
pub(super) fn alarm(alarm: &Alarm) -> Value {
    let given = |name: &str| alarm.definition.get(name).cloned().unwrap_or_default();
    // An empty list and none are the same.
    let list = |name: &str| match given(name) {
        Value::List(items) if items.is_empty() => Value::Null,
        value => value,
    };
    let row = &alarm.row;
    let arn = match row.stack {
        Some(_) => Value::Null,
        None => format!("arn:openstack:heat::{}:alarm/{}", row.project, row.name).into(),
    };
    let of_stack = row.stack.map(|stack| ("StackId".into(), stack.to_string().into()));
    let dimensions = dimensions(&alarm.definition).into_iter().chain(of_stack);
    let dimensions = dimensions.map(|(name, value)| {
        Value::map([("Name", Value::Text(name)), ("Value", Value::Text(value))])
    });
    let unit = match given("Unit") {
        Value::Null => given("Units"),
        unit => unit,
    };
    Value::map([
        ("ActionsEnabled", given("ActionsEnabled")),
        ("AlarmActions", list("AlarmActions")),
        ("AlarmArn", arn),
        ("AlarmConfigurationUpdatedTimestamp", moment(row.updated)),
        ("AlarmDescription", given("AlarmDescription")),
        ("AlarmName", Value::Text(row.name.clone())),
        ("ComparisonOperator", given("ComparisonOperator")),
        ("Dimensions", Value::list(dimensions)),
        ("EvaluationPeriods", given("EvaluationPeriods")),
        ("InsufficientDataActions", list("InsufficientDataActions")),
        ("MetricName", Value::Text(row.metric.clone())),
        ("Namespace", given("Namespace")),
        ("OKActions", list("OKActions")),
        ("Period", given("Period")),
        ("StateReason", given("StateReason")),
        ("StateReasonData", given("StateReasonData")),
        ("StateUpdatedTimestamp", moment(row.changed)),
        ("StateValue", row.state.name().into()),
        ("Statistic", given("Statistic")),
        ("Threshold", given("Threshold")),
        ("Unit", unit),
    ])
}
