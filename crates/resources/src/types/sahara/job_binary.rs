//! OS::Sahara::JobBinary: what is left of a program for data processing jobs.

use crate::declare::*;

pub(super) fn job_binary() -> ResourceType {
    ResourceType::new("OS::Sahara::JobBinary")
        .about("What is left of a program for data processing jobs.")
        .placeholder()
        .since("5.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
