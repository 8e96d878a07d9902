//! OS::Octavia::AvailabilityZoneProfile: the provider's data behind a load balancing availability
//! zone.

use super::common::offer;
use crate::declare::*;

pub(super) fn availability_zone_profile() -> ResourceType {
    ResourceType::new("OS::Octavia::AvailabilityZoneProfile")
        .about("The provider's data behind a load balancing availability zone.")
        .service(Service::LoadBalancer)
        .since("24.0.0")
        .props([
            prop(
                "availability_zone_data",
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
        .rest(offer("/lbaas/availabilityzoneprofiles", "availability_zone_profile"))
}
