//! OS::Vitrage::Template: what is left of a template for root cause analysis.

use crate::declare::*;

pub(super) fn template() -> ResourceType {
    ResourceType::new("OS::Vitrage::Template")
        .about("What is left of a template for root cause analysis.")
        .placeholder()
        .since("16.0.0")
        .deprecated("26.0.0")
        .hidden("27.0.0")
}
