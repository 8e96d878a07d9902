//! OS::Heat::UpdateWaitConditionHandle: a wait condition handle that starts afresh on every stack
//! update.

use super::addresses::Signed;
use super::signals::{aws_signal, called_by_url, signed, with_user};
use crate::declare::*;

pub(super) fn update_wait_condition_handle() -> ResourceType {
    ResourceType::new("OS::Heat::UpdateWaitConditionHandle")
        .about("A wait condition handle that starts afresh on every stack update.")
        .suspendable()
        .since("2014.1")
        .with(with_user)
        .creates(|op| Box::pin(async move { signed(op, Signed::WaitCondition).await.map(drop) }))
        .reference(called_by_url)
        .on_signal(aws_signal)
        .replaced_if(|_| true)
}
