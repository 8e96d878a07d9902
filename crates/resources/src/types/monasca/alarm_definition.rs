//! OS::Monasca::AlarmDefinition: what is left of a Monasca alarm definition.

use crate::declare::*;

pub(super) fn alarm_definition() -> ResourceType {
    ResourceType::new("OS::Monasca::AlarmDefinition")
        .about("What is left of a Monasca alarm definition.")
        .placeholder()
        .unsupported("5.0.0")
        .changed("7.0.0")
        .deprecated("22.0.0")
        .hidden("25.0.0")
}
