//! OS::Glance::Image: what is left of an image of the first version of the image API.

use crate::declare::*;

pub(super) fn image() -> ResourceType {
    ResourceType::new("OS::Glance::Image")
        .about("What is left of an image of the first version of the image API.")
        .placeholder()
        .since("2014.2")
        .deprecated("8.0.0")
        .hidden("22.0.0")
        .note("Use OS::Glance::WebImage.")
}
