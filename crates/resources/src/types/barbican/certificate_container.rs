//! OS::Barbican::CertificateContainer: a set of secrets that together are a certificate with its
//! key and chain.

use super::common::{container, no_secret_twice, private_key_props, refer};
use crate::declare::*;
use crate::property_access::text;

pub(super) fn certificate_container() -> ResourceType {
    ResourceType::new("OS::Barbican::CertificateContainer")
        .about("A set of secrets that together are a certificate with its key and chain.")
        .with(container)
        .props(private_key_props())
        .props([
            prop("certificate_ref", Str, "Reference URL of the secret with the certificate.")
                .is(SECRET),
            prop(
                "intermediates_ref",
                Str,
                "Reference URL of the secret with the intermediate certificates of the chain.",
            )
            .is(SECRET),
        ])
        .check(|members| no_secret_twice(REFS.iter().filter_map(|name| text(members, name))))
        .adjust_fields(|op, _, fields| refer(op, fields, "certificate", &REFS))
}

const REFS: [&str; 4] =
    ["certificate_ref", "intermediates_ref", "private_key_passphrase_ref", "private_key_ref"];
