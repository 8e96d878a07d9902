//! OS::Barbican::RSAContainer: a set of secrets that together are an RSA key pair.

use super::common::{container, refer};
use crate::declare::*;

pub(super) fn rsa_container() -> ResourceType {
    ResourceType::new("OS::Barbican::RSAContainer")
        .about("A set of secrets that together are an RSA key pair.")
        .service(Service::KeyManager)
        .entity("containers")
        .since("6.0.0")
        .props([
            prop("name", Str),
            prop("private_key_passphrase_ref", Str).is("barbican.secret"),
            prop("private_key_ref", Str).is("barbican.secret"),
            prop("public_key_ref", Str).is("barbican.secret"),
        ])
        .attrs([
            attr("consumers", List),
            attr("container_ref", Str),
            attr("secret_refs", Map),
            attr("status", Str),
        ])
        .with(container)
        .adjust_fields(|op, _, fields| refer(op, fields, "rsa", &REFS))
}

const REFS: [&str; 3] = ["private_key_passphrase_ref", "private_key_ref", "public_key_ref"];
