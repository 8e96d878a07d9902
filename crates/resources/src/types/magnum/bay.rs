//! OS::Magnum::Bay: what is left of a container cluster of the time when clusters were called bays.

use crate::declare::*;

pub(super) fn bay() -> ResourceType {
    ResourceType::new("OS::Magnum::Bay")
        .about("What is left of a container cluster of the time when clusters were called bays.")
        .placeholder()
        .since("6.0.0")
        .deprecated("9.0.0")
        .hidden("11.0.0")
        .note("Use OS::Magnum::Cluster.")
}
