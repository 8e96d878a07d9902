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
            prop("availability_zone_data", Str).required().updatable().is("json_string"),
            prop("name", Str).updatable(),
            prop("provider_name", Str).updatable(),
        ])
        .rest(offer("/lbaas/availabilityzoneprofiles", "availability_zone_profile"))
}
