//! Images: `OS::Glance::*`.

use crate::declare::ResourceType;

mod image;
mod web_image;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![image::image(), web_image::web_image()]
}
