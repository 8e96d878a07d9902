//! OS::Aodh::CombinationAlarm: what is left of an alarm that combined the states of other alarms.

use crate::declare::*;

pub(super) fn combination_alarm() -> ResourceType {
    ResourceType::new("OS::Aodh::CombinationAlarm")
        .about("What is left of an alarm that combined the states of other alarms.")
        .service(Service::Alarming)
        .entity("alarm")
        .placeholder()
        .since("2014.1")
        .deprecated("7.0.0")
        .hidden("9.0.0")
        .note("Use OS::Aodh::CompositeAlarm.")
}
