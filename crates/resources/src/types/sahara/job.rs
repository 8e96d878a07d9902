//! OS::Sahara::Job: what is left of a data processing job.

use crate::declare::*;

pub(super) fn job() -> ResourceType {
    ResourceType::new("OS::Sahara::Job")
        .about("What is left of a data processing job.")
        .placeholder()
        .since("8.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
