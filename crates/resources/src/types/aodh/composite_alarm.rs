//! OS::Aodh::CompositeAlarm: an alarm whose rule joins several threshold rules with and, or.

use super::common::any_alarm;
use crate::declare::*;

pub(super) fn composite_alarm() -> ResourceType {
    ResourceType::new("OS::Aodh::CompositeAlarm")
        .about("An alarm whose rule joins several threshold rules with and, or.")
        .since("8.0.0")
        .with(any_alarm)
        .props([prop("composite_rule", Map).required().updatable().members([
            prop("operator", Str).required().updatable().one_of(["or", "and"]),
            prop("rules", List).required().updatable().min_length(2),
        ])])
}
