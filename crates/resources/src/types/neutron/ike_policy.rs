//! OS::Neutron::IKEPolicy: the key exchange parameters of a VPN connection.

use super::common::rest_spec;
use super::fragments::{
    AUTHENTICATION, ENCRYPTION, description_attr, lifetime_prop, pfs_prop, tenant_id_attr,
};
use crate::declare::*;
use crate::types::fragments::{description_prop, name_attr, name_prop};

pub(super) fn ike_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::IKEPolicy")
        .about("The key exchange parameters of a VPN connection.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("ikepolicy")
        .detects_drift()
        .props([
            prop(
                "auth_algorithm",
                Str,
                "Hash algorithm that protects the key exchange's integrity.",
            )
            .updatable()
            .default("sha1")
            .one_of(AUTHENTICATION),
            description_prop().updatable(),
            prop("encryption_algorithm", Str, "Cipher for the key exchange.")
                .updatable()
                .default("aes-128")
                .one_of(ENCRYPTION),
            prop(
                "ike_version",
                Str,
                "Version of the Internet Key Exchange protocol, `v1` or `v2`.",
            )
            .updatable()
            .default("v1")
            .one_of(["v1", "v2"]),
            lifetime_prop().updatable(),
            name_prop().updatable(),
            pfs_prop().updatable(),
            prop(
                "phase1_negotiation_mode",
                Str,
                "Negotiation mode of IKE phase 1; `main` protects the peers' identities.",
            )
            .default("main")
            .one_of(["main"]),
        ])
        .attrs([
            attr("auth_algorithm", Str, "Hash algorithm in use for integrity."),
            description_attr(),
            attr("encryption_algorithm", Str, "Cipher that is in use."),
            attr("ike_version", Str, "IKE version that is in use."),
            attr(
                "lifetime",
                Map,
                "Lifetime of the security associations, with `units` and `value`.",
            ),
            name_attr(),
            attr("pfs", Str, "Diffie-Hellman group that is in use."),
            attr("phase1_negotiation_mode", Str, "Negotiation mode in use for phase 1."),
            tenant_id_attr(),
        ])
        .rest(rest_spec("/vpn/ikepolicies", "ikepolicy").list_envelope("ikepolicies"))
}
