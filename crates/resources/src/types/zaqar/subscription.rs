//! OS::Zaqar::Subscription: a subscriber that is told of every message in a queue.

use crate::declare::*;

pub(super) fn subscription() -> ResourceType {
    ResourceType::new("OS::Zaqar::Subscription")
        .about("A subscriber that is told of every message in a queue.")
        .service(Service::Messaging)
        .since("8.0.0")
        .props([
            prop("options", Map).updatable(),
            prop("queue_name", Str).required().is("zaqar.queue"),
            prop("subscriber", Str).required().updatable(),
            prop("ttl", Int).updatable().default(220367260800).min(60),
        ])
}
