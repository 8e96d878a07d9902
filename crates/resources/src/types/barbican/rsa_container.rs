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
            prop("name", Str, "Readable name of the container."),
            prop(
                "private_key_passphrase_ref",
                Str,
                "Reference URL of the secret with the passphrase of the private key.",
            )
            .is(SECRET),
            prop("private_key_ref", Str, "Reference URL of the secret with the private key.")
                .is(SECRET),
            prop("public_key_ref", Str, "Reference URL of the secret with the public key.")
                .is(SECRET),
        ])
        .attrs([
            attr(
                "consumers",
                List,
                "Services that have registered their use of the container, with their URLs.",
            ),
            attr(
                "container_ref",
                Str,
                "Reference URL of the container, under which other services find it.",
            ),
            attr("secret_refs", Map, "Map from the name of each secret to its reference URL."),
            attr("status", Str, "State of the container in the key manager, such as `ACTIVE`."),
        ])
        .with(container)
        .adjust_fields(|op, _, fields| refer(op, fields, "rsa", &REFS))
}

const REFS: [&str; 3] = ["private_key_passphrase_ref", "private_key_ref", "public_key_ref"];
