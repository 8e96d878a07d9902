//! OS::Octavia::FlavorProfile: the provider's data behind a load balancer flavor.

use super::common::offer;
use crate::declare::*;

pub(super) fn flavor_profile() -> ResourceType {
    ResourceType::new("OS::Octavia::FlavorProfile")
        .about("The provider's data behind a load balancer flavor.")
        .service(Service::LoadBalancer)
        .since("14.0.0")
        .props([
            prop("flavor_data", Str).required().updatable().is("json_string"),
            prop("name", Str).updatable(),
            prop("provider_name", Str).updatable(),
        ])
        .rest(offer("/lbaas/flavorprofiles", "flavorprofile"))
}
