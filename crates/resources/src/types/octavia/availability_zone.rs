//! OS::Octavia::AvailabilityZone: an availability zone that load balancers can be placed in.

use super::common::offer;
use crate::declare::*;
use crate::rest::RestSpec;

pub(super) fn availability_zone() -> ResourceType {
    ResourceType::new("OS::Octavia::AvailabilityZone")
        .about("An availability zone that load balancers can be placed in.")
        .service(Service::LoadBalancer)
        .since("24.0.0")
        .props([
            prop("availability_zone_profile", Str)
                .required()
                .is("octavia.availabilityzoneprofile")
                .by_name(),
            prop("description", Str).updatable().default_empty(),
            prop("enabled", Bool).updatable().default(true),
            prop("name", Str).updatable(),
        ])
        .attrs([attr("availability_zone_profile_id", Str)])
        // It is known by its name alone.
        .replaced_if(|change| change.changed.iter().any(|name| &**name == "name"))
        .rest(RestSpec {
            marks_then_renames: false,
            ..offer("/lbaas/availabilityzones", "availability_zone")
                .id("name")
                .mark_field("description")
        })
}
