//! OS::Heat::None: a resource that takes any property and does nothing, to stand in for another.

use crate::declare::*;

pub(super) fn none() -> ResourceType {
    ResourceType::new("OS::Heat::None")
        .about("A resource that takes any property and does nothing, to stand in for another.")
        .placeholder()
        .since("5.0.0")
}
