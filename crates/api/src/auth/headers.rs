//! What is read of a request's headers: credentials and wishes, never who somebody is.

use crate::caller::Caller;
use axum::http::HeaderMap;
use kiln_template::value::{Secret, Value};

/// The text of a header; nothing if it is absent, empty or not text.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let bytes = headers.get(name)?.as_bytes();
    std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

/// A header that nobody but its receiver may read.
pub(super) fn secret_header(headers: &HeaderMap, name: &str) -> Option<Secret> {
    header(headers, name).map(secret)
}

/// Hides a text.
pub(super) fn secret(text: &str) -> Secret {
    Secret::new(Value::text(text))
}

/// The text of a secret, for whoever sends it to the identity service or hashes it.
pub(super) fn reveal(secret: &Secret) -> &str {
    secret.expose().as_text().map_or("", |text| text)
}

/// Adds what a client may say for itself: its wishes, and a password to use later.
pub(super) fn add_client_options(caller: &mut Caller, headers: &HeaderMap) {
    caller.region = header(headers, "x-region-name").map(str::to_owned);
    if let Some(name) = header(headers, "x-auth-user") {
        caller.login_name = Some(name.to_owned());
        caller.password = secret_header(headers, "x-auth-key");
    }
}
