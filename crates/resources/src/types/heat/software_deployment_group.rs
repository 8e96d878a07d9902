//! OS::Heat::SoftwareDeploymentGroup: the application of a software configuration to several
//! servers.

use super::common::{deployment_group, deployments};
use crate::declare::*;

pub(super) fn software_deployment_group() -> ResourceType {
    ResourceType::new("OS::Heat::SoftwareDeploymentGroup")
        .about("The application of a software configuration to several servers.")
        .since("5.0.0")
        .with(deployment_group)
        .staged(|group| deployments(group, "OS::Heat::SoftwareDeployment"))
}
