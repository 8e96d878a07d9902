//! AWS::CloudFormation::WaitConditionHandle: a signed URL through which a server reports to a wait
//! condition.

use crate::declare::*;
use crate::types::heat::signals::aws_handle;

pub(super) fn wait_condition_handle() -> ResourceType {
    ResourceType::new("AWS::CloudFormation::WaitConditionHandle")
        .about("A signed URL through which a server reports to a wait condition.")
        .with(aws_handle)
}
