//! OS::Zaqar::MistralTrigger: a subscription that starts a workflow for every message in a queue.

use crate::declare::*;

pub(super) fn mistral_trigger() -> ResourceType {
    ResourceType::new("OS::Zaqar::MistralTrigger")
        .about("A subscription that starts a workflow for every message in a queue.")
        .service(Service::Messaging)
        .since("8.0.0")
        .props([
            prop("input", Map).updatable().default_empty(),
            prop("params", Map).updatable().default_empty(),
            prop("queue_name", Str).required().is("zaqar.queue"),
            prop("ttl", Int).updatable().default(220367260800).min(60),
            prop("workflow_id", Str).required().updatable().is("mistral.workflow"),
        ])
}
