//! OS::Neutron::IPsecSiteConnection: a VPN connection between a VPN service and a peer site.

use crate::declare::*;

pub(super) fn ipsec_site_connection() -> ResourceType {
    ResourceType::new("OS::Neutron::IPsecSiteConnection")
        .about("A VPN connection between a VPN service and a peer site.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("ipsec_site_connection")
        .observable()
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("description", Str).updatable(),
            prop("dpd", Map).members([
                prop("actions", Str).default("hold").one_of([
                    "clear",
                    "disabled",
                    "hold",
                    "restart",
                    "restart-by-peer",
                ]),
                prop("interval", Int).default(30),
                prop("timeout", Int).default(120),
            ]),
            prop("ikepolicy_id", Str).required(),
            prop("initiator", Str)
                .default("bi-directional")
                .one_of(["bi-directional", "response-only"]),
            prop("ipsecpolicy_id", Str).required(),
            prop("mtu", Int).default(1500),
            prop("name", Str).updatable(),
            prop("peer_address", Str).required(),
            prop("peer_cidrs", List).required().each(item(Str).is("net_cidr")),
            prop("peer_id", Str).required(),
            prop("psk", Str).required(),
            prop("vpnservice_id", Str).required(),
        ])
        .attrs([
            attr("admin_state_up", Str),
            attr("auth_mode", Str),
            attr("description", Str),
            attr("dpd", Map),
            attr("ikepolicy_id", Str),
            attr("initiator", Str),
            attr("ipsecpolicy_id", Str),
            attr("mtu", Str),
            attr("name", Str),
            attr("peer_address", Str),
            attr("peer_cidrs", List),
            attr("peer_id", Str),
            attr("psk", Str),
            attr("route_mode", Str),
            attr("status", Str),
            attr("tenant_id", Str),
            attr("vpnservice_id", Str),
        ])
}
