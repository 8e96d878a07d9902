//! OS::Heat::Stack: a stack in another region or another cloud.

use crate::declare::*;

pub(super) fn stack() -> ResourceType {
    ResourceType::new("OS::Heat::Stack")
        .about("A stack in another region or another cloud.")
        .service(Service::Orchestration)
        .entity("stacks")
        .checkable()
        .restorable()
        .suspendable()
        .props([
            prop("context", Map).updatable().members([
                prop("ca_cert", Str).updatable().since("12.0.0"),
                prop("credential_secret_id", Str).updatable().since("12.0.0"),
                prop("insecure", Bool).updatable().default(false).since("12.0.0"),
                prop("region_name", Str),
            ]),
            prop("parameters", Map).updatable().default_empty(),
            prop("template", Str).required().updatable(),
            prop("timeout", Int).updatable(),
        ])
        .attrs([attr("outputs", Map), attr("stack_name", Str)])
}
