//! OS::Heat::AccessPolicy: a list of resources of the stack that a stack's user may read.

use crate::declare::*;

pub(super) fn access_policy() -> ResourceType {
    ResourceType::new("OS::Heat::AccessPolicy")
        .about("A list of resources of the stack that a stack's user may read.")
        .props([prop(
            "AllowedResources",
            List,
            "Names of the resources of this stack that the user may read.",
        )
        .required()])
}
