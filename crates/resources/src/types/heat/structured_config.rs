//! OS::Heat::StructuredConfig: a configuration written as a map, with inputs filled in when it is
//! deployed.

use super::common::any_config;
use super::stored_config;
use crate::declare::*;

pub(super) fn structured_config() -> ResourceType {
    ResourceType::new("OS::Heat::StructuredConfig")
        .about("A configuration written as a map, with inputs filled in when it is deployed.")
        .since("2014.1")
        .with(any_config)
        .props([
            prop(
                "config",
                Map,
                "Configuration as a map, in which inputs are replaced when it is deployed.",
            ),
            prop(
                "group",
                Str,
                "Tool on the server that applies the configuration, such as `script` or `ansible`.",
            )
            .default("Heat::Ungrouped"),
        ])
        .attrs([attr("config", Str, "Configuration as it was stored.")])
        .creates(|op| Box::pin(stored_config::as_written(op)))
        .created_on_adopt()
        .deletes(|op| Box::pin(stored_config::remove(op)))
        .attributes(stored_config::attribute)
}
