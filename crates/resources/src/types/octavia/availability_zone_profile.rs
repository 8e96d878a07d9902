//! OS::Octavia::AvailabilityZoneProfile: the provider's data behind a load balancing availability
//! zone.

use super::common::{offer, profile};
use crate::declare::*;

pub(super) fn availability_zone_profile() -> ResourceType {
    let kind = ResourceType::new("OS::Octavia::AvailabilityZoneProfile")
        .about("The provider's data behind a load balancing availability zone.")
        .since("24.0.0");
    profile(kind, "availability_zone_data")
        .rest(offer("/lbaas/availabilityzoneprofiles", "availability_zone_profile"))
}
