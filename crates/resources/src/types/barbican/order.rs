//! OS::Barbican::Order: a request to the key manager to generate a key or have a certificate
//! issued.

use crate::declare::*;

pub(super) fn order() -> ResourceType {
    ResourceType::new("OS::Barbican::Order")
        .about("A request to the key manager to generate a key or have a certificate issued.")
        .service(Service::KeyManager)
        .entity("orders")
        .since("2014.2")
        .props([
            prop("algorithm", Str),
            prop("bit_length", Int),
            prop("ca_id", Str).since("5.0.0"),
            prop("expiration", Str).is("expiration"),
            prop("mode", Str),
            prop("name", Str),
            prop("pass_phrase", Str).since("5.0.0"),
            prop("payload_content_type", Str),
            prop("profile", Str).since("5.0.0"),
            prop("request_data", Str).since("5.0.0"),
            prop("request_type", Str).one_of(["stored-key", "simple-cmc", "custom"]).since("5.0.0"),
            prop("source_container_ref", Str).is("barbican.container").since("5.0.0"),
            prop("subject_dn", Str).since("5.0.0"),
            prop("type", Str)
                .required()
                .one_of(["key", "asymmetric", "certificate"])
                .since("5.0.0"),
        ])
        .attrs([
            attr("certificate", Str).since("5.0.0"),
            attr("container_ref", Str).since("5.0.0"),
            attr("intermediates", Str).since("5.0.0"),
            attr("order_ref", Str),
            attr("private_key", Str).since("5.0.0"),
            attr("public_key", Str).since("5.0.0"),
            attr("secret_ref", Str),
            attr("status", Str),
        ])
}
