//! Alarms in AWS terms: `AWS::CloudWatch::*`.

use crate::declare::ResourceType;

mod alarm;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![alarm::alarm()]
}
