//! OS::Mistral::ExternalResource: an object that workflows create, update and delete.

use crate::declare::*;

pub(super) fn external_resource() -> ResourceType {
    ResourceType::new("OS::Mistral::ExternalResource")
        .about("An object that workflows create, update and delete.")
        .service(Service::Workflow)
        .entity("executions")
        .suspendable()
        .since("9.0.0")
        .props([
            actions(),
            prop("always_update", Bool).default(false),
            prop("description", Str).default("Heat managed"),
            prop("input", Map).updatable().default_empty(),
            prop("replace_on_change_inputs", List).default_empty(),
        ])
        .attrs([attr("output", Map)])
}

fn actions() -> Prop {
    let actions = ["CREATE", "DELETE", "RESUME", "SUSPEND", "UPDATE"];
    prop("actions", Map).required().members(actions.map(|action| {
        prop(action, Map).members([
            prop("params", Map).default_empty(),
            prop("workflow", Str).required().is("mistral.workflow"),
        ])
    }))
}
