//! OS::Designate::Domain: what is left of a DNS domain of the first version of the DNS API.

use crate::declare::*;

pub(super) fn domain() -> ResourceType {
    ResourceType::new("OS::Designate::Domain")
        .about("What is left of a DNS domain of the first version of the DNS API.")
        .placeholder()
        .since("5.0.0")
        .deprecated("8.0.0")
        .hidden("10.0.0")
        .note("Use OS::Designate::Zone.")
}
