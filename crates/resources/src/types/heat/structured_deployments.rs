//! OS::Heat::StructuredDeployments: the former name of a group of structured deployments.

use super::common::{deployment_group, deployments, structured};
use crate::declare::*;

pub(super) fn structured_deployments() -> ResourceType {
    ResourceType::new("OS::Heat::StructuredDeployments")
        .about("The former name of a group of structured deployments.")
        .successor("OS::Heat::StructuredDeploymentGroup")
        .deprecated("2014.2")
        .hidden("7.0.0")
        .note("Use OS::Heat::StructuredDeploymentGroup.")
        .with(deployment_group)
        .with(structured)
        .staged(|group| deployments(group, "OS::Heat::StructuredDeployment"))
}
