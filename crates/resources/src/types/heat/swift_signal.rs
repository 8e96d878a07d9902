//! OS::Heat::SwiftSignal: a pause in stack creation until enough signals lie in an object store.

use crate::declare::*;

pub(super) fn swift_signal() -> ResourceType {
    ResourceType::new("OS::Heat::SwiftSignal")
        .about("A pause in stack creation until enough signals lie in an object store.")
        .service(Service::ObjectStore)
        .since("2014.2")
        .props([
            prop("count", Int).default(1).range(1, 1000),
            prop("handle", Str).required(),
            prop("timeout", Num).required().range(1, 43200),
        ])
        .attrs([attr("data", Str)])
}
