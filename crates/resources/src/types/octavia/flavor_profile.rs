//! OS::Octavia::FlavorProfile: the provider's data behind a load balancer flavor.

use super::common::{offer, profile};
use crate::declare::*;

pub(super) fn flavor_profile() -> ResourceType {
    let kind = ResourceType::new("OS::Octavia::FlavorProfile")
        .about("The provider's data behind a load balancer flavor.")
        .since("14.0.0");
    profile(kind, "flavor_data").rest(offer("/lbaas/flavorprofiles", "flavorprofile"))
}
