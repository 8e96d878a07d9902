//! OS::Heat::UpdateWaitConditionHandle: a wait condition handle that starts afresh on every stack
//! update.

use super::signals::{aws_signal, stack_user};
use crate::declare::*;

pub(super) fn update_wait_condition_handle() -> ResourceType {
    ResourceType::new("OS::Heat::UpdateWaitConditionHandle")
        .about("A wait condition handle that starts afresh on every stack update.")
        .suspendable()
        .since("2014.1")
        .creates(|op| Box::pin(stack_user(op)))
        .on_signal(aws_signal)
        .replaced_if(|_| true)
}
