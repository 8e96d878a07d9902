//! OS::Octavia::Flavor: a kind of load balancer that users can choose.

use super::common::offer;
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn flavor() -> ResourceType {
    ResourceType::new("OS::Octavia::Flavor")
        .about("A kind of load balancer that users can choose.")
        .service(Service::LoadBalancer)
        .since("14.0.0")
        .props([
            description_prop().updatable().default_empty(),
            prop("enabled", Bool, "Whether new load balancers can use the flavor.")
                .updatable()
                .default(true),
            prop(
                "flavor_profile",
                Str,
                "Profile with the provider's settings for the flavor, by name or ID.",
            )
            .required()
            .is(LB_FLAVOR_PROFILE)
            .by_name(),
            name_prop().updatable(),
        ])
        .attrs([attr("flavor_profile_id", Str, "ID of the profile behind the flavor.")])
        .rest(
            offer("/lbaas/flavors", "flavor")
                .field("flavor_profile", "flavor_profile_id")
                .mark_field("description"),
        )
}
