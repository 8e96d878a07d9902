//! OS::Heat::StructuredDeployment: the application of a structured configuration to a server.

use super::common::{a_deployment, structured};
use crate::declare::*;

pub(super) fn structured_deployment() -> ResourceType {
    ResourceType::new("OS::Heat::StructuredDeployment")
        .about("The application of a structured configuration to a server.")
        .since("2014.1")
        .with(a_deployment)
        .with(structured)
}
