//! OS::Heat::AccessPolicy: a list of resources of the stack that a stack's user may read.

use crate::declare::*;
use crate::property_access::items;

pub(super) fn access_policy() -> ResourceType {
    ResourceType::new("OS::Heat::AccessPolicy")
        .about("A list of resources of the stack that a stack's user may read.")
        .props([prop(
            "AllowedResources",
            List,
            "Names of the resources of this stack that the user may read.",
        )
        .required()])
        .check_with_siblings(check)
}

fn check(properties: &Members, siblings: &dyn SiblingDefinitions) -> Result<(), PropertyError> {
    for name in items(properties, "AllowedResources").iter().filter_map(Value::as_text) {
        if siblings.type_name(name).is_none() {
            let message = format!("AccessPolicy resource {name} not in stack");
            return Err(PropertyError::new(message));
        }
    }
    Ok(())
}
