//! OS::Aodh::EventAlarm: an alarm that fires when an event of a given kind arrives.

use super::common::{any_alarm, condition, rest_alarm, value_type, whole};
use crate::declare::*;

pub(super) fn event_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::EventAlarm")
        .about("An alarm that fires when an event of a given kind arrives.")
        .since("8.0.0")
        .with(any_alarm)
        .props([
            prop("event_type", Str, "Kind of event that fires the alarm, such as `compute.instance.update`, with `*` as wildcard.").updatable().default("*"),
            prop("query", List, "Conditions on traits of the event, all of which must hold for the alarm to fire.").updatable().each(condition("Trait of the event that the condition looks at, such as `traits.state`.", value_type())),
        ]);
    rest_alarm(kind, |op, _, fields| whole(op, fields, "event", &["event_type", "query"]))
}
