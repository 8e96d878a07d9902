//! OS::Heat::Delay: a pause of a set or random length when a stack acts on it.

use crate::declare::*;

pub(super) fn delay() -> ResourceType {
    ResourceType::new("OS::Heat::Delay")
        .about("A pause of a set or random length when a stack acts on it.")
        .suspendable()
        .since("11.0.0")
        .props([
            prop("actions", List)
                .updatable()
                .default(list(["CREATE"]))
                .one_of(["CREATE", "DELETE", "SUSPEND", "RESUME"]),
            prop("jitter_multiplier", Num).updatable().default(1.0).min(0),
            prop("max_jitter", Num).updatable().default(0).min(0),
            prop("min_wait", Num).updatable().default(0).min(0),
        ])
}
