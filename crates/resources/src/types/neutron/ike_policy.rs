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
            prop("auth_algorithm", Str).updatable().default("sha1").one_of(AUTHENTICATION),
            prop("description", Str).updatable(),
            prop("encryption_algorithm", Str).updatable().default("aes-128").one_of(ENCRYPTION),
            prop("ike_version", Str).updatable().default("v1").one_of(["v1", "v2"]),
            prop("lifetime", Map).updatable().members([
                prop("units", Str).default("seconds").one_of(["seconds", "kilobytes"]),
                prop("value", Int).default(3600),
            ]),
            prop("name", Str).updatable(),
            prop("pfs", Str).updatable().default("group5").one_of(KEY_GROUPS),
            prop("phase1_negotiation_mode", Str).default("main").one_of(["main"]),
        ])
        .attrs([
            attr("auth_algorithm", Str),
            attr("description", Str),
            attr("encryption_algorithm", Str),
            attr("ike_version", Str),
            attr("lifetime", Map),
            attr("name", Str),
            attr("pfs", Str),
            attr("phase1_negotiation_mode", Str),
            attr("tenant_id", Str),
        ])
        .rest(rest_spec("/vpn/ikepolicies", "ikepolicy").list_envelope("ikepolicies"))
}
