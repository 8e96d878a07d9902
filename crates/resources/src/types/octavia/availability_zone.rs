//! OS::Octavia::AvailabilityZone: an availability zone that load balancers can be placed in.

use super::common::offer;
use crate::declare::*;
use crate::rest::RestSpec;
use crate::types::fragments::description_prop;

pub(super) fn availability_zone() -> ResourceType {
    ResourceType::new("OS::Octavia::AvailabilityZone")
        .about("An availability zone that load balancers can be placed in.")
        .service(Service::LoadBalancer)
        .since("24.0.0")
        .props([
            prop(
                "availability_zone_profile",
                Str,
                "Profile with the provider's data for the zone, by name or ID.",
            )
            .required()
            .is(LB_AVAILABILITY_ZONE_PROFILE)
            .by_name(),
            description_prop().updatable().default_empty(),
            prop("enabled", Bool, "Whether new load balancers can be placed in the zone.")
                .updatable()
                .default(true),
            prop(
                "name",
                Str,
                "Name by which load balancers refer to the zone; a new one means a new zone.",
            )
            .updatable(),
        ])
        .attrs([attr("availability_zone_profile_id", Str, "ID of the profile behind the zone.")])
        // The name is the id of an availability zone.
        .replaced_if(|change| change.changed.iter().any(|name| &**name == "name"))
        .rest(RestSpec {
            marks_then_renames: false,
            ..offer("/lbaas/availabilityzones", "availability_zone")
                .field("availability_zone_profile", "availability_zone_profile_id")
                .id("name")
                .mark_field("description")
        })
}
