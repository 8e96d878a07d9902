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
            prop("auth_algorithm", Str, "Hash algorithm that protects the integrity of the tunnel's packets.").default("sha1").one_of(AUTHENTICATION),
            prop("description", Str, "Free-form text for people; the service gives it no meaning.").updatable(),
            prop("encapsulation_mode", Str, "How packets are wrapped: whole with `tunnel`, only their payload with `transport`.").default("tunnel").one_of(["tunnel", "transport"]),
            prop("encryption_algorithm", Str, "Cipher for the traffic itself.").default("aes-128").one_of(ENCRYPTION),
            prop("lifetime", Map, "How long a security association lasts before keys are renegotiated.").members([
                prop("units", Str, "What the lifetime is counted in: `seconds` or `kilobytes`.").default("seconds").one_of(["seconds", "kilobytes"]),
                prop("value", Int, "Length of the lifetime in the chosen unit.").default(3600),
            ]),
            prop("name", Str, "Human-readable name; made from the stack and resource names if omitted.").updatable(),
            prop("pfs", Str, "Diffie-Hellman group of the key exchange, for perfect forward secrecy.").default("group5").one_of(KEY_GROUPS),
            prop("transform_protocol", Str, "IPsec protocol: `esp` encrypts, `ah` only authenticates, `ah-esp` does both.").default("esp").one_of(["esp", "ah", "ah-esp"]),
        ])
        .attrs([
            attr("auth_algorithm", Str, "Hash algorithm in use for integrity."),
            attr("description", Str, "Description that the service has on record."),
            attr("encapsulation_mode", Str, "Encapsulation mode that is in use."),
            attr("encryption_algorithm", Str, "Cipher that is in use."),
            attr("lifetime", Map, "Lifetime of the security associations, with `units` and `value`."),
            attr("name", Str, "Name that the service has on record."),
            attr("pfs", Str, "Diffie-Hellman group that is in use."),
            attr("tenant_id", Str, "ID of the project that owns the object."),
            attr("transform_protocol", Str, "IPsec protocol that is in use."),
        ])
        .rest(rest_spec("/vpn/ipsecpolicies", "ipsecpolicy").list_envelope("ipsecpolicies"))
}
