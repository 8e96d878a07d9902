//! AWS::CloudFormation::WaitCondition: a pause in stack creation until a handle has received enough
//! signals.

use crate::declare::*;

pub(super) fn wait_condition() -> ResourceType {
    ResourceType::new("AWS::CloudFormation::WaitCondition")
        .about("A pause in stack creation until a handle has received enough signals.")
        .since("2014.1")
        .props([
            prop("Count", Int).updatable().default(1).min(1),
            prop("Handle", Str).required(),
            prop("Timeout", Int).required().range(1, 43200),
        ])
        .attrs([attr("Data", Str).uncached()])
}
