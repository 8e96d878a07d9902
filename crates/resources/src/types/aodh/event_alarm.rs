//! OS::Aodh::EventAlarm: an alarm that fires when an event of a given kind arrives.

use super::common::{OPERATORS, any_alarm, rest_alarm, whole};
use crate::declare::*;

pub(super) fn event_alarm() -> ResourceType {
    let kind = ResourceType::new("OS::Aodh::EventAlarm")
        .about("An alarm that fires when an event of a given kind arrives.")
        .since("8.0.0")
        .with(any_alarm)
        .props([
            prop("event_type", Str).updatable().default("*"),
            prop("query", List).updatable().each(record([
                prop("field", Str),
                prop("op", Str).one_of(OPERATORS),
                prop("type", Str)
                    .default("string")
                    .one_of(["integer", "float", "string", "boolean", "datetime"]),
                prop("value", Str),
            ])),
        ]);
    rest_alarm(kind, |op, _, fields| whole(op, fields, "event", &["event_type", "query"]))
}
