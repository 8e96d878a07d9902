//! AWS::CloudFormation::WaitConditionHandle: a signed URL through which a server reports to a wait
//! condition.

use crate::declare::*;
use crate::types::heat::signals::{aws_signal, stack_user};

pub(super) fn wait_condition_handle() -> ResourceType {
    ResourceType::new("AWS::CloudFormation::WaitConditionHandle")
        .about("A signed URL through which a server reports to a wait condition.")
        .suspendable()
        .since("2014.1")
        .creates(|op| Box::pin(stack_user(op)))
        .on_signal(aws_signal)
}
