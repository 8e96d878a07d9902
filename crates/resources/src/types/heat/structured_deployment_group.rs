//! OS::Heat::StructuredDeploymentGroup: the application of a structured configuration to several
//! servers.

use super::common::{deployment_group, deployments, structured};
use crate::declare::*;

pub(super) fn structured_deployment_group() -> ResourceType {
    ResourceType::new("OS::Heat::StructuredDeploymentGroup")
        .about("The application of a structured configuration to several servers.")
        .since("5.0.0")
        .with(deployment_group)
        .with(structured)
        .staged(|group| deployments(group, "OS::Heat::StructuredDeployment"))
}
