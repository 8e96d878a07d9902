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
            prop("certificate_ref", Str, "Reference URL of the secret with the certificate.")
                .is(SECRET),
            prop(
                "intermediates_ref",
                Str,
                "Reference URL of the secret with the intermediate certificates of the chain.",
            )
            .is(SECRET),
            prop("name", Str, "Readable name of the container."),
            prop(
                "private_key_passphrase_ref",
                Str,
                "Reference URL of the secret with the passphrase of the private key.",
            )
            .is(SECRET),
            prop("private_key_ref", Str, "Reference URL of the secret with the private key.")
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
        .adjust_fields(|op, _, fields| refer(op, fields, "certificate", &REFS))
}

const REFS: [&str; 4] =
    ["certificate_ref", "intermediates_ref", "private_key_passphrase_ref", "private_key_ref"];
