//! OS::Sahara::DataSource: what is left of a source of input or output data for data processing
//! jobs.

use crate::declare::*;

pub(super) fn data_source() -> ResourceType {
    ResourceType::new("OS::Sahara::DataSource")
        .about("What is left of a source of input or output data for data processing jobs.")
        .placeholder()
        .since("5.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
