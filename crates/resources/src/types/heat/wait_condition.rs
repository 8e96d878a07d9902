//! OS::Heat::WaitCondition: a pause in stack creation until a handle has received enough signals.

use crate::declare::*;

pub(super) fn wait_condition() -> ResourceType {
    ResourceType::new("OS::Heat::WaitCondition")
        .about("A pause in stack creation until a handle has received enough signals.")
        .since("2014.2")
        .props([
            prop("count", Int).updatable().default(1).min(1),
            prop("handle", Str).required(),
            prop("timeout", Num).required().range(1, 43200),
        ])
        .attrs([attr("data", Str).uncached()])
}
