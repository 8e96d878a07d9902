//! OS::Neutron::IPsecPolicy: the encryption and authentication parameters of a VPN connection.

use super::common::rest_spec;
use super::fragments::{
    AUTHENTICATION, ENCRYPTION, description_attr, lifetime_prop, pfs_prop, tenant_id_attr,
};
use crate::declare::*;
use crate::types::fragments::{description_prop, name_attr, name_prop};

pub(super) fn ipsec_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::IPsecPolicy")
        .about("The encryption and authentication parameters of a VPN connection.")
        .service(Service::Network)
        .extension("vpnaas")
        .entity("ipsecpolicy")
        .detects_drift()
        .props([
            prop("auth_algorithm", Str, "Hash algorithm that protects the integrity of the tunnel's packets.").default("sha1").one_of(AUTHENTICATION),
            description_prop().updatable(),
            prop("encapsulation_mode", Str, "How packets are wrapped: whole with `tunnel`, only their payload with `transport`.").default("tunnel").one_of(["tunnel", "transport"]),
            prop("encryption_algorithm", Str, "Cipher for the traffic itself.").default("aes-128").one_of(ENCRYPTION),
            lifetime_prop(),
            name_prop().updatable(),
            pfs_prop(),
            prop("transform_protocol", Str, "IPsec protocol: `esp` encrypts, `ah` only authenticates, `ah-esp` does both.").default("esp").one_of(["esp", "ah", "ah-esp"]),
        ])
        .attrs([
            attr("auth_algorithm", Str, "Hash algorithm in use for integrity."),
            description_attr(),
            attr("encapsulation_mode", Str, "Encapsulation mode that is in use."),
            attr("encryption_algorithm", Str, "Cipher that is in use."),
            attr("lifetime", Map, "Lifetime of the security associations, with `units` and `value`."),
            name_attr(),
            attr("pfs", Str, "Diffie-Hellman group that is in use."),
            tenant_id_attr(),
            attr("transform_protocol", Str, "IPsec protocol that is in use."),
        ])
        .rest(rest_spec("/vpn/ipsecpolicies", "ipsecpolicy").list_envelope("ipsecpolicies"))
}
