//! Object store containers in AWS terms: `AWS::S3::*`.

use crate::declare::ResourceType;

mod bucket;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![bucket::bucket()]
}
