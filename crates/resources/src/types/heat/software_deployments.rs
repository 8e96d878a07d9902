//! OS::Heat::SoftwareDeployments: the former name of a group of software deployments.

use super::common::{deployment_group, deployments};
use crate::declare::*;

pub(super) fn software_deployments() -> ResourceType {
    ResourceType::new("OS::Heat::SoftwareDeployments")
        .about("The former name of a group of software deployments.")
        .successor("OS::Heat::SoftwareDeploymentGroup")
        .deprecated("2014.2")
        .hidden("7.0.0")
        .note("Use OS::Heat::SoftwareDeploymentGroup.")
        .with(deployment_group)
        .staged(|group| deployments(group, "OS::Heat::SoftwareDeployment"))
}
