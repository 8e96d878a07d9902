//! OS::Heat::CloudConfig: a cloud-init configuration written as a map instead of text.

use crate::declare::*;

pub(super) fn cloud_config() -> ResourceType {
    ResourceType::new("OS::Heat::CloudConfig")
        .about("A cloud-init configuration written as a map instead of text.")
        .service(Service::Orchestration)
        .entity("software_configs")
        .since("2014.1")
        .props([prop("cloud_config", Map)])
        .attrs([attr("config", Str)])
}
