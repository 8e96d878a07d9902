//! OS::Neutron::VPNService: a VPN endpoint on a router.

use super::common::rest_spec;
use super::fragments::{admin_state_up_attr, description_attr, subnet_id_prop, tenant_id_attr};
use crate::declare::*;
use crate::rest::Readiness;
use crate::types::fragments::{
    admin_state_up_prop, description_prop, name_attr, name_prop, status_attr,
};

pub(super) fn vpn_service() -> ResourceType {
    ResourceType::new("OS::Neutron::VPNService")
        .about("A VPN endpoint on a router.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("vpnservice")
        .detects_drift()
        .props([
            admin_state_up_prop(),
            description_prop().updatable(),
            name_prop().updatable(),
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
            subnet_id_prop("ID of the local subnet that peers can reach through the VPN."),
        ])
        .attrs([
            admin_state_up_attr(),
            description_attr(),
            name_attr(),
            attr("router_id", Str, "ID of the router on which the VPN ends."),
            status_attr(),
            attr("subnet_id", Str, "ID of the local subnet."),
            tenant_id_attr(),
        ])
        .rest(
            rest_spec("/vpn/vpnservices", "vpnservice")
                // The service refuses changes before the first connection exists.
                .keeps_mark()
                .unique(["description", "name", "router_id", "subnet_id"])
                .field("router", "router_id")
                .field("subnet", "subnet_id")
                .unsent(["router_id", "subnet_id"])
                // A VPN service is pending until its first connection, and down while all of its connections
                // are.
                .readiness(
                    Readiness::when("status", ["PENDING_CREATE", "ACTIVE", "DOWN"], ["ERROR"])
                        .waiting(["PENDING_UPDATE"])
                        .words("Error in VPNService", "VPNService creation failed"),
                ),
        )
}
