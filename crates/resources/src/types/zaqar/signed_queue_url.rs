//! OS::Zaqar::SignedQueueURL: a signed URL that gives access to a queue without further
//! credentials.

use crate::declare::*;

pub(super) fn signed_queue_url() -> ResourceType {
    ResourceType::new("OS::Zaqar::SignedQueueURL")
        .about("A signed URL that gives access to a queue without further credentials.")
        .service(Service::Messaging)
        .since("8.0.0")
        .props([
            prop("methods", List).each(item(Str).one_of(["GET", "DELETE", "PATCH", "POST", "PUT"])),
            prop("paths", List),
            prop("queue", Str).required(),
            prop("ttl", Int),
        ])
        .attrs([
            attr("expires", None),
            attr("methods", None),
            attr("paths", None),
            attr("project", None),
            attr("query_str", None),
            attr("signature", None),
        ])
}
