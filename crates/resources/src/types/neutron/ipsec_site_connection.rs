//! OS::Neutron::IPsecSiteConnection: a VPN connection between a VPN service and a peer site.

use super::common::rest_spec;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest::{self, Readiness};

pub(super) fn ipsec_site_connection() -> ResourceType {
    ResourceType::new("OS::Neutron::IPsecSiteConnection")
        .about("A VPN connection between a VPN service and a peer site.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("ipsec_site_connection")
        .detects_drift()
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
        .updates(|op| Box::pin(update(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
        .rest(
            rest_spec("/vpn/ipsec-site-connections", "ipsec_site_connection")
                .field("dpd.actions", "action")
                .readiness(
                    Readiness::when("status", ["ACTIVE"], ["ERROR"])
                        // It is down until the other end is there.
                        .waiting(["PENDING_CREATE", "DOWN"])
                        .words(
                            "Error in IPsecSiteConnection",
                            "IPsecSiteConnection creation failed",
                        ),
                ),
        )
}

/// A change does not wait for the other end: it may be away.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let fields = rest::changed_fields(op, &spec);
    if let Some(call) = rest::change(op, &spec, fields) {
        op.call("change", call).await?;
    }
    check(op).await
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    match rest::look(op).await? {
        Some(shown) => {
            op.set_remote(shown);
            Ok(())
        }
        None => Err(OpError::failed("NotFound", "the connection is gone")),
    }
}
