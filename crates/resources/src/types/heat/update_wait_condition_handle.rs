//! OS::Heat::UpdateWaitConditionHandle: a wait condition handle that starts afresh on every stack
//! update.

use crate::declare::*;

pub(super) fn update_wait_condition_handle() -> ResourceType {
    ResourceType::new("OS::Heat::UpdateWaitConditionHandle")
        .about("A wait condition handle that starts afresh on every stack update.")
        .signalled()
        .suspendable()
        .since("2014.1")
}
