//! OS::Heat::SoftwareConfig: a script or other configuration with its inputs and outputs, to be
//! deployed.

use super::common::any_config;
use super::stored_config;
use crate::declare::*;

pub(super) fn software_config() -> ResourceType {
    ResourceType::new("OS::Heat::SoftwareConfig")
        .about("A script or other configuration with its inputs and outputs, to be deployed.")
        .since("2014.1")
        .with(any_config)
        .props([
            prop("config", Str, "Text of the configuration, such as a script."),
            prop(
                "group",
                Str,
                "Tool on the server that applies the configuration, such as `script` or `ansible`.",
            )
            .default("Heat::Ungrouped"),
        ])
        .attrs([attr("config", Str, "Text of the configuration as it was stored.")])
        .creates(|op| Box::pin(stored_config::as_written(op)))
        .created_on_adopt()
        .deletes(|op| Box::pin(stored_config::remove(op)))
        .attributes(stored_config::attribute)
}
