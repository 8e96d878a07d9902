//! AWS::CloudFormation::WaitConditionHandle: a signed URL through which a server reports to a wait
//! condition.

use crate::declare::*;
use crate::types::heat::addresses::Signed;
use crate::types::heat::signals::{aws_signal, called_by_url, signed, with_user};

pub(super) fn wait_condition_handle() -> ResourceType {
    ResourceType::new("AWS::CloudFormation::WaitConditionHandle")
        .about("A signed URL through which a server reports to a wait condition.")
        .suspendable()
        .since("2014.1")
        .with(with_user)
        .creates(|op| Box::pin(async move { signed(op, Signed::WaitCondition).await.map(drop) }))
        .reference(called_by_url)
        .on_signal(aws_signal)
}
