//! OS::Heat::ResourceChain: resources of different types made one after the other with the same
//! properties.

use crate::declare::*;

pub(super) fn resource_chain() -> ResourceType {
    ResourceType::new("OS::Heat::ResourceChain")
        .about("Resources of different types made one after the other with the same properties.")
        .nested()
        .any_attribute()
        .since("6.0.0")
        .props([
            prop("concurrent", Bool).default(false),
            prop("resource_properties", Map),
            prop("resources", List).required().updatable(),
        ])
        .attrs([attr("attributes", Map), attr("refs", List)])
}
