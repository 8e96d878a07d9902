//! OS::Neutron::TaaS::TapFlow: the port whose traffic is copied to a tap service.

use super::common::{rest_spec, tapping};
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn taas_tap_flow() -> ResourceType {
    ResourceType::new("OS::Neutron::TaaS::TapFlow")
        .about("The port whose traffic is copied to a tap service.")
        .service(Service::Network)
        .extension("taas")
        .entity("tap_flow")
        .detects_drift()
        .since("12.0.0")
        .props([
            description_prop().updatable().default_empty(),
            prop(
                "direction",
                Str,
                "Traffic to copy: to the port (`IN`), from it (`OUT`) or `BOTH`.",
            )
            .default("BOTH")
            .one_of(["IN", "OUT", "BOTH"]),
            name_prop().updatable().default_empty(),
            prop("port", Str, "Port whose traffic is copied, by name or ID.")
                .required()
                .is(PORT)
                .by_name(),
            prop("tap_service", Str, "Tap service that receives the copies, by name or ID.")
                .required()
                .is(TAP_SERVICE)
                .by_name(),
            prop("vlan_filter", Str, "VLAN IDs to copy, as numbers and ranges such as `10,20-30`.")
                .pattern("^([0-9]+(-[0-9]+)?)(,([0-9]+(-[0-9]+)?))*$"),
        ])
        .rest(
            rest_spec("/taas/tap_flows", "tap_flow")
                .field("port", "source_port")
                .field("tap_service", "tap_service_id")
                .readiness(tapping()),
        )
}
