//! OS::Aodh::CompositeAlarm: an alarm whose rule joins several threshold rules with and, or.

use super::common::{any_alarm, rest_alarm, ruled};
use crate::declare::*;
use crate::wire;
use serde_json::json;

pub(super) fn composite_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::CompositeAlarm")
        .about("An alarm whose rule joins several threshold rules with and, or.")
        .since("8.0.0")
        .with(any_alarm)
        .props([prop("composite_rule", Map, "Threshold rules and how their results are joined.").required().updatable().members([
            prop("operator", Str, "Whether all rules must hold (`and`) or one is enough (`or`).").required().updatable().one_of(["or", "and"]),
            prop("rules", List, "Rules in the form of the alarming API, each with its `type`, or nested `and` and `or` groups.").required().updatable().min_length(2),
        ])]);
    rest_alarm(kind, |op, _, fields| {
        let rule = wire::json(op.prop("composite_rule"));
        let operator = rule["operator"].as_str().unwrap_or("or");
        let rule = json!({ operator: rule["rules"] });
        ruled(op, fields, "composite", rule);
    })
}
