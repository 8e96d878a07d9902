//! Scaling groups in AWS terms: `AWS::AutoScaling::*`.

use crate::declare::ResourceType;

mod auto_scaling_group;
mod launch_configuration;
mod scaling_policy;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        auto_scaling_group::auto_scaling_group(),
        launch_configuration::launch_configuration(),
        scaling_policy::scaling_policy(),
    ]
}
