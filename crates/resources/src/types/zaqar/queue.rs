//! OS::Zaqar::Queue: a queue of messages.

use crate::declare::*;

pub(super) fn queue() -> ResourceType {
    ResourceType::new("OS::Zaqar::Queue")
        .about("A queue of messages.")
        .service(Service::Messaging)
        .name_limit(64)
        .since("2014.2")
        .props([prop("metadata", Map).updatable(), prop("name", Str).max_length(64)])
        .attrs([
            attr("href", None),
            attr("queue_id", None).uncached().since("2014.1").deprecated("2015.1").hidden("6.0.0"),
        ])
}
