//! Users of a stack and their keys in AWS terms: `AWS::IAM::*`.

use crate::declare::ResourceType;

mod access_key;
mod user;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![access_key::access_key(), user::user()]
}
