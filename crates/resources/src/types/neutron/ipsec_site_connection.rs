//! OS::Neutron::IPsecSiteConnection: a VPN connection between a VPN service and a peer site.

use super::common::rest_spec;
use super::fragments::{admin_state_up_attr, description_attr, tenant_id_attr};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::rest::{self, Readiness};
use crate::types::fragments::{
    admin_state_up_prop, description_prop, name_attr, name_prop, status_attr,
};

pub(super) fn ipsec_site_connection() -> ResourceType {
    ResourceType::new("OS::Neutron::IPsecSiteConnection")
        .about("A VPN connection between a VPN service and a peer site.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("ipsec_site_connection")
        .detects_drift()
        .props([
            admin_state_up_prop(),
            description_prop().updatable(),
            prop("dpd", Map, "How dead peers are detected, and what happens then.").members([
                prop("actions", Str, "What to do about a dead peer, such as `hold` or `restart`.")
                    .default("hold")
                    .one_of(["clear", "disabled", "hold", "restart", "restart-by-peer"]),
                prop("interval", Int, "Seconds between two probes of the peer.").default(30),
                prop(
                    "timeout",
                    Int,
                    "Seconds without an answer after which the peer counts as dead.",
                )
                .default(120),
            ]),
            prop("ikepolicy_id", Str, "ID of the IKE policy for the key exchange.").required(),
            prop(
                "initiator",
                Str,
                "Who may open the connection: either side, or with `response-only` just the peer.",
            )
            .default("bi-directional")
            .one_of(["bi-directional", "response-only"]),
            prop("ipsecpolicy_id", Str, "ID of the IPsec policy for the tunnel.").required(),
            prop("mtu", Int, "Largest packet, in bytes, that is sent without fragmentation.")
                .default(1500),
            name_prop().updatable(),
            prop("peer_address", Str, "Public address or host name of the peer's gateway.")
                .required(),
            prop("peer_cidrs", List, "Networks behind the peer, in CIDR notation.")
                .required()
                .each(item(Str).is(NET_CIDR)),
            prop(
                "peer_id",
                Str,
                "Identity the peer presents, such as an address, host name or email.",
            )
            .required(),
            prop("psk", Str, "Secret that both ends share, by which they authenticate each other.")
                .required(),
            prop("vpnservice_id", Str, "ID of the VPN service at the local end.").required(),
        ])
        .attrs([
            admin_state_up_attr(),
            attr("auth_mode", Str, "How the ends authenticate each other, which is `psk`."),
            description_attr(),
            attr("dpd", Map, "Settings of the dead peer detection."),
            attr("ikepolicy_id", Str, "ID of the IKE policy in use."),
            attr("initiator", Str, "Which side may open the connection."),
            attr("ipsecpolicy_id", Str, "ID of the IPsec policy in use."),
            attr("mtu", Str, "Largest unfragmented packet, in bytes."),
            name_attr(),
            attr("peer_address", Str, "Address or host name of the peer's gateway."),
            attr("peer_cidrs", List, "Networks behind the peer, in CIDR notation."),
            attr("peer_id", Str, "Identity that the peer must present."),
            attr("psk", Str, "The shared secret of both ends."),
            attr("route_mode", Str, "How routes to the peer come about, which is `static`."),
            status_attr(),
            tenant_id_attr(),
            attr("vpnservice_id", Str, "ID of the VPN service at the local end."),
        ])
        .updates(|op| Box::pin(update(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
        .rest(
            rest_spec("/vpn/ipsec-site-connections", "ipsec_site_connection")
                .field("dpd.actions", "action")
                .readiness(
                    Readiness::when("status", ["ACTIVE"], ["ERROR"])
                        // The connection is down until the peer is reachable.
                        .waiting(["PENDING_CREATE", "DOWN"])
                        .words(
                            "Error in IPsecSiteConnection",
                            "IPsecSiteConnection creation failed",
                        ),
                ),
        )
}

/// Updates the connection without waiting for the peer, which may be unreachable.
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
        None => Err(OpError::failed(FailureClass::NotFound, "the connection is gone")),
    }
}
