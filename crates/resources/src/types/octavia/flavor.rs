//! OS::Octavia::Flavor: a kind of load balancer that users can choose.

use super::common::offer;
use crate::declare::*;

pub(super) fn flavor() -> ResourceType {
    ResourceType::new("OS::Octavia::Flavor")
        .about("A kind of load balancer that users can choose.")
        .service(Service::LoadBalancer)
        .since("14.0.0")
        .props([
            prop("description", Str, "Free-form text for people; the service gives it no meaning.")
                .updatable()
                .default_empty(),
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
            prop(
                "name",
                Str,
                "Human-readable name; made from the stack and resource names if omitted.",
            )
            .updatable(),
        ])
        .attrs([attr("flavor_profile_id", Str, "ID of the profile behind the flavor.")])
        .rest(offer("/lbaas/flavors", "flavor").mark_field("description"))
}
