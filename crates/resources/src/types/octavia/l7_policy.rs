//! OS::Octavia::L7Policy: what a listener does with requests that match the policy's rules.

use crate::declare::*;

pub(super) fn l7_policy() -> ResourceType {
    ResourceType::new("OS::Octavia::L7Policy")
        .about("What a listener does with requests that match the policy's rules.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("action", Str).required().updatable().one_of([
                "REJECT",
                "REDIRECT_TO_POOL",
                "REDIRECT_TO_URL",
            ]),
            prop("admin_state_up", Bool).updatable().default(true),
            prop("description", Str).updatable(),
            prop("listener", Str).required().is("octavia.listener").by_name(),
            prop("name", Str).updatable(),
            prop("position", Num).updatable().min(1),
            prop("redirect_pool", Str).updatable().is("octavia.pool").by_name(),
            prop("redirect_url", Str).updatable(),
        ])
        .attrs([attr("rules", List)])
}
