//! OS::Heat::UpdateWaitConditionHandle: a wait condition handle that starts afresh on every stack
//! update.

use super::signals::aws_handle;
use crate::declare::*;

pub(super) fn update_wait_condition_handle() -> ResourceType {
    ResourceType::new("OS::Heat::UpdateWaitConditionHandle")
        .about("A wait condition handle that starts afresh on every stack update.")
        .with(aws_handle)
        .replaced_if(|_| true)
}
