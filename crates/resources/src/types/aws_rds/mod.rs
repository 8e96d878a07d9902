//! Databases in AWS terms: `AWS::RDS::*`.

use crate::declare::ResourceType;

mod db_instance;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![db_instance::db_instance()]
}
