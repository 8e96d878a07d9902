//! OS::Barbican::RSAContainer: a set of secrets that together are an RSA key pair.

use super::common::{container, no_secret_twice, private_key_props, refer};
use crate::declare::*;
use crate::property_access::text;

pub(super) fn rsa_container() -> ResourceType {
    ResourceType::new("OS::Barbican::RSAContainer")
        .about("A set of secrets that together are an RSA key pair.")
        .with(container)
        .props(private_key_props())
        .props([prop("public_key_ref", Str, "Reference URL of the secret with the public key.")
            .is(SECRET)])
        .check(|members| no_secret_twice(REFS.iter().filter_map(|name| text(members, name))))
        .adjust_fields(|op, _, fields| refer(op, fields, "rsa", &REFS))
}

const REFS: [&str; 3] = ["private_key_passphrase_ref", "private_key_ref", "public_key_ref"];
