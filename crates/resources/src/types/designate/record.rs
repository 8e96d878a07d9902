//! OS::Designate::Record: what is left of a DNS record of the first version of the DNS API.

use crate::declare::*;

pub(super) fn record() -> ResourceType {
    ResourceType::new("OS::Designate::Record")
        .about("What is left of a DNS record of the first version of the DNS API.")
        .placeholder()
        .since("5.0.0")
        .deprecated("8.0.0")
        .hidden("10.0.0")
        .note("Use OS::Designate::RecordSet.")
}
