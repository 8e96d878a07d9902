//! OS::Nova::KeyPair: a key pair for logging in to servers.

use crate::declare::*;

pub(super) fn key_pair() -> ResourceType {
    ResourceType::new("OS::Nova::KeyPair")
        .about("A key pair for logging in to servers.")
        .service(Service::Compute)
        .entity("keypairs")
        .checkable()
        .since("2014.1")
        .props([
            prop("name", Str).required().length(1, 255),
            prop("public_key", Str),
            prop("save_private_key", Bool).default(false),
            prop("type", Str).one_of(["ssh", "x509"]).since("8.0.0"),
            prop("user", Str).is("keystone.user").by_name().since("9.0.0"),
        ])
        .attrs([attr("private_key", Str).uncached(), attr("public_key", Str)])
}
