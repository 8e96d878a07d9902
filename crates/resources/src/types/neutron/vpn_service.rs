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
            prop(
                "admin_state_up",
                Bool,
                "Administrative state; `false` takes the object out of operation.",
            )
            .updatable()
            .default(true),
            prop("description", Str, "Free-form text for people; the service gives it no meaning.")
                .updatable(),
            prop(
                "name",
                Str,
                "Human-readable name; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop("router", Str, "Router on which the VPN ends, by name or ID.")
                .required()
                .is(ROUTER)
                .by_name()
                .replaces("router_id")
                .since("2015.1"),
            prop("router_id", Str, "ID of the router on which the VPN ends.")
                .is(ROUTER)
                .since("2013.2")
                .deprecated("2015.1")
                .hidden("6.0.0")
                .note("Use `router`."),
            prop(
                "subnet",
                Str,
                "Local subnet that peers can reach through the VPN, by name or ID.",
            )
            .required()
            .is(SUBNET)
            .by_name()
            .replaces("subnet_id")
            .since("2014.2"),
            prop("subnet_id", Str, "ID of the local subnet that peers can reach through the VPN.")
                .is(SUBNET)
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `subnet`."),
        ])
        .attrs([
            attr("admin_state_up", Str, "Whether the object is administratively up."),
            attr("description", Str, "Description that the service has on record."),
            attr("name", Str, "Name that the service has on record."),
            attr("router_id", Str, "ID of the router on which the VPN ends."),
            attr(
                "status",
                Str,
                "Current status as the service reports it, such as `ACTIVE` or `DOWN`.",
            ),
            attr("subnet_id", Str, "ID of the local subnet."),
            attr("tenant_id", Str, "ID of the project that owns the object."),
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
