//! OS::Octavia::FlavorProfile: the provider's data behind a load balancer flavor.

use super::common::offer;
use crate::declare::*;

pub(super) fn flavor_profile() -> ResourceType {
    ResourceType::new("OS::Octavia::FlavorProfile")
        .about("The provider's data behind a load balancer flavor.")
        .service(Service::LoadBalancer)
        .since("14.0.0")
        .props([
            prop(
                "flavor_data",
                Str,
                "Settings for the provider driver, as a JSON object in a string.",
            )
            .required()
            .updatable()
            .is(JSON_STRING),
            prop(
                "name",
                Str,
                "Human-readable name; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop(
                "provider_name",
                Str,
                "Provider driver that the profile is for, such as `amphora`.",
            )
            .updatable(),
        ])
        .rest(offer("/lbaas/flavorprofiles", "flavorprofile"))
}
