//! OS::Barbican::Secret: a piece of confidential data kept by the key manager.

use super::common::rest_spec;
use crate::declare::*;
use crate::property_access::{open, text};
use crate::refusals::{is_given, may_be_given, needs};
use kiln_template::functions::step_into_attribute;

pub(super) fn secret() -> ResourceType {
    ResourceType::new("OS::Barbican::Secret")
        .about("A piece of confidential data kept by the key manager.")
        .service(Service::KeyManager)
        .entity("secrets")
        .since("2014.2")
        .props([
            prop("algorithm", Str, "Algorithm that the secret is used with, such as `aes`, for information only."),
            prop("bit_length", Int, "Length of the secret in bits, for information only.").min(0),
            prop("expiration", Str, "ISO 8601 time after which the secret can no longer be read.").is(EXPIRATION),
            prop("mode", Str, "Block cipher mode that the secret is used with, such as `cbc`, for information only."),
            prop("name", Str, "Readable name of the secret."),
            prop("payload", Str, "Confidential data themselves, as text."),
            prop("payload_content_encoding", Str, "Encoding of a binary payload, required for `application/octet-stream`.").one_of(["base64"]),
            prop("payload_content_type", Str, "Media type of the payload, required if there is a payload.").one_of(["text/plain", "application/octet-stream"]),
            prop("secret_type", Str, "Kind of data the secret holds, such as a private key or a passphrase.")
                .default("opaque")
                .one_of(["symmetric", "public", "private", "certificate", "passphrase", "opaque"])
                .since("5.0.0"),
        ])
        .attrs([attr("decrypted_payload", Str, "Confidential data in plain form, as they were stored."), attr("status", Str, "State of the secret in the key manager, such as `ACTIVE`.")])
        .check(check)
        .attributes(|view, name, path| {
            // The payload from the template need not be read from the service.
            let payload = view.properties.get("payload").unwrap_or(&Value::Null);
            Ok((name == "decrypted_payload").then(|| step_into_attribute(payload, path)))
        })
        .rest(rest_spec("/secrets", "secrets", "secret_ref"))
}

const BINARY: &str = "application/octet-stream";

fn check(members: &Members) -> Result<(), PropertyError> {
    needs(members, "payload_content_type", "payload")?;
    let is_binary = text(members, "payload_content_type") == Some(BINARY);
    let has_encoding = may_be_given(members, "payload_content_encoding");
    if is_binary && !has_encoding {
        let message = format!(
            "Property unspecified. For '{BINARY}' value of 'payload_content_type' property, \
             'payload_content_encoding' property must be specified."
        );
        return Err(PropertyError::new(message));
    }
    if is_binary
        && members
            .get("payload")
            .map(open)
            .and_then(Value::as_text)
            .is_some_and(|it| !is_base64(it))
    {
        let message = format!(
            "Invalid payload for specified '{BINARY}' value of 'payload_content_type' property."
        );
        return Err(PropertyError::new(message));
    }
    let is_text = text(members, "payload_content_type").is_some_and(|kind| kind != BINARY);
    if is_given(members, "payload_content_encoding") && is_text {
        let message = format!(
            "payload_content_encoding property should only be specified for payload_content_type with value \
             {BINARY}."
        );
        return Err(PropertyError::new(message));
    }
    Ok(())
}

/// Whether a text is valid Base64.
fn is_base64(text: &str) -> bool {
    let letters: Vec<char> = text.chars().filter(|char| !char.is_ascii_whitespace()).collect();
    let padding = letters.iter().rev().take_while(|char| **char == '=').count();
    let is_letter = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '+' | '/');
    letters.len().is_multiple_of(4)
        && padding <= 2
        && letters[..letters.len() - padding].iter().all(is_letter)
}
