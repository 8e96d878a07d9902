//! OS::Neutron::TaaS::TapFlow: the port whose traffic is copied to a tap service.

use crate::declare::*;

pub(super) fn taas_tap_flow() -> ResourceType {
    ResourceType::new("OS::Neutron::TaaS::TapFlow")
        .about("The port whose traffic is copied to a tap service.")
        .service(Service::Network)
        .extension("taas")
        .entity("tap_flow")
        .detects_drift()
        .since("12.0.0")
        .props([
            prop("description", Str, "").updatable().default_empty(),
            prop("direction", Str, "").default("BOTH").one_of(["IN", "OUT", "BOTH"]),
            prop("name", Str, "").updatable().default_empty(),
            prop("port", Str, "").required().is(PORT),
            prop("tap_service", Str, "").required().is(TAP_SERVICE),
            prop("vlan_filter", Str, "").pattern("^([0-9]+(-[0-9]+)?)(,([0-9]+(-[0-9]+)?))*$"),
        ])
}
