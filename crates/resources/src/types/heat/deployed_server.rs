//! OS::Heat::DeployedServer: a machine that already exists, to which software deployments can be
//! sent.

use crate::declare::*;

pub(super) fn deployed_server() -> ResourceType {
    ResourceType::new("OS::Heat::DeployedServer")
        .about("A machine that already exists, to which software deployments can be sent.")
        .service(Service::Orchestration)
        .entity("servers")
        .name_limit(53)
        .snapshot_on_delete()
        .suspendable()
        .props([
            prop("deployment_swift_data", Map)
                .updatable()
                .default_empty()
                .since("9.0.0")
                .members([prop("container", Str).min_length(1), prop("object", Str).min_length(1)]),
            prop("metadata", Map).updatable().since("8.0.0").deprecated("9.0.0"),
            prop("name", Str).updatable(),
            prop("software_config_transport", Str).updatable().default("POLL_SERVER_CFN").one_of([
                "POLL_SERVER_CFN",
                "POLL_SERVER_HEAT",
                "POLL_TEMP_URL",
                "ZAQAR_MESSAGE",
            ]),
        ])
        .attrs([attr("name", Str), attr("os_collect_config", Map).uncached().since("9.0.0")])
}
