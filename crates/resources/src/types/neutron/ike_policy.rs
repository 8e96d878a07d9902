//! OS::Neutron::IKEPolicy: the key exchange parameters of a VPN connection.

use super::common::{AUTHENTICATION, ENCRYPTION, KEY_GROUPS, rest_spec};
use crate::declare::*;

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
            prop("description", Str, "Free-form text for people; the service gives it no meaning.")
                .updatable(),
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
            prop(
                "lifetime",
                Map,
                "How long a security association lasts before keys are renegotiated.",
            )
            .updatable()
            .members([
                prop("units", Str, "What the lifetime is counted in: `seconds` or `kilobytes`.")
                    .default("seconds")
                    .one_of(["seconds", "kilobytes"]),
                prop("value", Int, "Length of the lifetime in the chosen unit.").default(3600),
            ]),
            prop(
                "name",
                Str,
                "Human-readable name; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop(
                "pfs",
                Str,
                "Diffie-Hellman group of the key exchange, for perfect forward secrecy.",
            )
            .updatable()
            .default("group5")
            .one_of(KEY_GROUPS),
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
            attr("description", Str, "Description that the service has on record."),
            attr("encryption_algorithm", Str, "Cipher that is in use."),
            attr("ike_version", Str, "IKE version that is in use."),
            attr(
                "lifetime",
                Map,
                "Lifetime of the security associations, with `units` and `value`.",
            ),
            attr("name", Str, "Name that the service has on record."),
            attr("pfs", Str, "Diffie-Hellman group that is in use."),
            attr("phase1_negotiation_mode", Str, "Negotiation mode in use for phase 1."),
            attr("tenant_id", Str, "ID of the project that owns the object."),
        ])
        .rest(rest_spec("/vpn/ikepolicies", "ikepolicy").list_envelope("ikepolicies"))
}
