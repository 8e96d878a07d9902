//! Nested stacks and wait conditions in AWS terms: `AWS::CloudFormation::*`.

use crate::declare::ResourceType;

mod stack;
mod wait_condition;
mod wait_condition_handle;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        stack::stack(),
        wait_condition::wait_condition(),
        wait_condition_handle::wait_condition_handle(),
    ]
}
