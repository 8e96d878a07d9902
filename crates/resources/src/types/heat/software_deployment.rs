//! OS::Heat::SoftwareDeployment: the application of a software configuration to a server.

use super::common::a_deployment;
use crate::declare::*;

pub(super) fn software_deployment() -> ResourceType {
    ResourceType::new("OS::Heat::SoftwareDeployment")
        .about("The application of a software configuration to a server.")
        .since("2014.1")
        .with(a_deployment)
}
