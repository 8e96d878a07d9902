//! OS::Barbican::Secret: a piece of confidential data kept by the key manager.

use crate::declare::*;

pub(super) fn secret() -> ResourceType {
    ResourceType::new("OS::Barbican::Secret")
        .about("A piece of confidential data kept by the key manager.")
        .service(Service::KeyManager)
        .entity("secrets")
        .since("2014.2")
        .props([
            prop("algorithm", Str),
            prop("bit_length", Int).min(0),
            prop("expiration", Str).is("expiration"),
            prop("mode", Str),
            prop("name", Str),
            prop("payload", Str),
            prop("payload_content_encoding", Str).one_of(["base64"]),
            prop("payload_content_type", Str).one_of(["text/plain", "application/octet-stream"]),
            prop("secret_type", Str)
                .default("opaque")
                .one_of(["symmetric", "public", "private", "certificate", "passphrase", "opaque"])
                .since("5.0.0"),
        ])
        .attrs([attr("decrypted_payload", Str), attr("status", Str)])
}
