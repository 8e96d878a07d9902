//! The headers of a request: credentials and options, never the identity of the caller.

use crate::caller::Caller;
use axum::http::HeaderMap;
use kiln_template::{Secret, Value};

/// The text of a header; nothing if it is absent, empty or not text.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let bytes = headers.get(name)?.as_bytes();
    std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

/// The text of a secret header.
pub(super) fn secret_header(headers: &HeaderMap, name: &str) -> Option<Secret> {
    header(headers, name).map(secret)
}

/// Hides a text.
pub(super) fn secret(text: &str) -> Secret {
    Secret::new(Value::text(text))
}

/// The text of a secret, for requests to the identity service and for hashes.
pub(super) fn reveal(secret: &Secret) -> &str {
    secret.expose().as_text().map_or("", |text| text)
}

/// Adds the options that a client may set itself: the region, and a password for later.
pub(super) fn add_client_options(caller: &mut Caller, headers: &HeaderMap) {
    caller.region = header(headers, "x-region-name").map(str::to_owned);
    if let Some(name) = header(headers, "x-auth-user") {
        caller.login_name = Some(name.to_owned());
        caller.password = secret_header(headers, "x-auth-key");
    }
}
