//! OS::Sahara::ImageRegistry: what is left of an image's registration for data processing.

use crate::declare::*;

pub(super) fn image_registry() -> ResourceType {
    ResourceType::new("OS::Sahara::ImageRegistry")
        .about("What is left of an image's registration for data processing.")
        .placeholder()
        .since("5.0.0")
        .deprecated("22.0.0")
        .hidden("23.0.0")
}
