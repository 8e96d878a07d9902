//! OS::Neutron::VPNService: a VPN endpoint on a router.

use super::common::rest_spec;
use crate::declare::*;
use crate::rest::Readiness;

pub(super) fn vpn_service() -> ResourceType {
    ResourceType::new("OS::Neutron::VPNService")
        .about("A VPN endpoint on a router.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("vpnservice")
        .detects_drift()
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("description", Str).updatable(),
            prop("name", Str).updatable(),
            prop("router", Str)
                .required()
                .is("neutron.router")
                .by_name()
                .replaces("router_id")
                .since("2015.1"),
            prop("router_id", Str)
                .is("neutron.router")
                .since("2013.2")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `router`."),
            prop("subnet", Str)
                .required()
                .is("neutron.subnet")
                .by_name()
                .replaces("subnet_id")
                .since("2014.2"),
            prop("subnet_id", Str)
                .is("neutron.subnet")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `subnet`."),
        ])
        .attrs([
            attr("admin_state_up", Str),
            attr("description", Str),
            attr("name", Str),
            attr("router_id", Str),
            attr("status", Str),
            attr("subnet_id", Str),
            attr("tenant_id", Str),
        ])
        .rest(
            rest_spec("/vpn/vpnservices", "vpnservice")
                // It cannot be changed before its first connection is there.
                .keeps_mark()
                .unique(["description", "name", "router_id", "subnet_id"])
                .field("router", "router_id")
                .field("subnet", "subnet_id")
                .unsent(["router_id", "subnet_id"])
                // It becomes active only with its first connection, and is down if all of them are.
                .readiness(
                    Readiness::when("status", ["PENDING_CREATE", "ACTIVE", "DOWN"], ["ERROR"])
                        .waiting(["PENDING_UPDATE"])
                        .words("Error in VPNService", "VPNService creation failed"),
                ),
        )
}
