//! OS::Neutron::TaaS::TapService: the port that receives copies of tapped traffic.

use super::common::{rest_spec, tapping};
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn taas_tap_service() -> ResourceType {
    ResourceType::new("OS::Neutron::TaaS::TapService")
        .about("The port that receives copies of tapped traffic.")
        .service(Service::Network)
        .extension("taas")
        .entity("tap_service")
        .detects_drift()
        .since("12.0.0")
        .props([
            description_prop().updatable().default_empty(),
            name_prop().updatable().default_empty(),
            prop("port", Str, "Port at which the copied traffic arrives, by name or ID.")
                .required()
                .is(PORT)
                .by_name(),
        ])
        .rest(
            rest_spec("/taas/tap_services", "tap_service")
                .field("port", "port_id")
                .readiness(tapping()),
        )
}
