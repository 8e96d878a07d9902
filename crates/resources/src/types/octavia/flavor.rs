//! OS::Octavia::Flavor: a kind of load balancer that users can choose.

use super::common::offer;
use crate::declare::*;

pub(super) fn flavor() -> ResourceType {
    ResourceType::new("OS::Octavia::Flavor")
        .about("A kind of load balancer that users can choose.")
        .service(Service::LoadBalancer)
        .since("14.0.0")
        .props([
            prop("description", Str).updatable().default_empty(),
            prop("enabled", Bool).updatable().default(true),
            prop("flavor_profile", Str).required().is("octavia.flavorprofile").by_name(),
            prop("name", Str).updatable(),
        ])
        .attrs([attr("flavor_profile_id", Str)])
        .rest(offer("/lbaas/flavors", "flavor").mark_field("description"))
}
