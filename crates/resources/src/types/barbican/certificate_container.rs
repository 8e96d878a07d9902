//! OS::Barbican::CertificateContainer: a set of secrets that together are a certificate with its
//! key and chain.

use super::common::{container, refer};
use crate::declare::*;

pub(super) fn certificate_container() -> ResourceType {
    ResourceType::new("OS::Barbican::CertificateContainer")
        .about("A set of secrets that together are a certificate with its key and chain.")
        .service(Service::KeyManager)
        .entity("containers")
        .since("6.0.0")
        .props([
            prop("certificate_ref", Str).is("barbican.secret"),
            prop("intermediates_ref", Str).is("barbican.secret"),
            prop("name", Str),
            prop("private_key_passphrase_ref", Str).is("barbican.secret"),
            prop("private_key_ref", Str).is("barbican.secret"),
        ])
        .attrs([
            attr("consumers", List),
            attr("container_ref", Str),
            attr("secret_refs", Map),
            attr("status", Str),
        ])
        .with(container)
        .adjust_fields(|op, _, fields| refer(op, fields, "certificate", &REFS))
}

const REFS: [&str; 4] =
    ["certificate_ref", "intermediates_ref", "private_key_passphrase_ref", "private_key_ref"];
