//! OS::Neutron::IPsecPolicy: the encryption and authentication parameters of a VPN connection.

use super::common::{AUTHENTICATION, ENCRYPTION, KEY_GROUPS, rest_spec};
use crate::declare::*;

pub(super) fn ipsec_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::IPsecPolicy")
        .about("The encryption and authentication parameters of a VPN connection.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("ipsecpolicy")
        .detects_drift()
        .props([
            prop("auth_algorithm", Str).default("sha1").one_of(AUTHENTICATION),
            prop("description", Str).updatable(),
            prop("encapsulation_mode", Str).default("tunnel").one_of(["tunnel", "transport"]),
            prop("encryption_algorithm", Str).default("aes-128").one_of(ENCRYPTION),
            prop("lifetime", Map).members([
                prop("units", Str).default("seconds").one_of(["seconds", "kilobytes"]),
                prop("value", Int).default(3600),
            ]),
            prop("name", Str).updatable(),
            prop("pfs", Str).default("group5").one_of(KEY_GROUPS),
            prop("transform_protocol", Str).default("esp").one_of(["esp", "ah", "ah-esp"]),
        ])
        .attrs([
            attr("auth_algorithm", Str),
            attr("description", Str),
            attr("encapsulation_mode", Str),
            attr("encryption_algorithm", Str),
            attr("lifetime", Map),
            attr("name", Str),
            attr("pfs", Str),
            attr("tenant_id", Str),
            attr("transform_protocol", Str),
        ])
        .rest(rest_spec("/vpn/ipsecpolicies", "ipsecpolicy").list_envelope("ipsecpolicies"))
}
