//! OS::Heat::SoftwareComponent: several configurations, each for some of the actions of a
//! deployment.

use super::common::any_config;
use crate::declare::*;

pub(super) fn software_component() -> ResourceType {
    ResourceType::new("OS::Heat::SoftwareComponent")
        .about("Several configurations, each for some of the actions of a deployment.")
        .since("2014.2")
        .with(any_config)
        .props([prop("configs", List).required().min_length(1).each(record([
            prop("actions", List).default(list(["CREATE", "UPDATE"])).min_length(1).each(item(Str)),
            prop("config", Str),
            prop("tool", Str).required(),
        ]))])
        .attrs([attr("config", Str)])
}
