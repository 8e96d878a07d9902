//! OS::Senlin::Receiver: what is left of an address through which Senlin clusters were triggered.

use crate::declare::*;

pub(super) fn receiver() -> ResourceType {
    ResourceType::new("OS::Senlin::Receiver")
        .about("What is left of an address through which Senlin clusters were triggered.")
        .placeholder()
        .since("6.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
