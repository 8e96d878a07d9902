//! Temporary URLs of the object store: a URL that allows one object to be written for a limited time.

use super::super::error::Result;
use super::super::secret::Secret;
use super::super::session::HeatSession;
use crate::load::{now, random_id};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use sha2::Sha256;

/// The header with the account's key for temporary URLs.
const KEY: &str = "x-account-meta-temp-url-key";

/// A URL to which a server can send its signal, valid for `minutes`.
pub(super) async fn make(
    session: &HeatSession,
    name: &str,
    container: Option<&str>,
    minutes: u64,
) -> Result<String> {
    let account = session.service("object-store")?;
    let account = account.trim_end_matches('/');
    let told = session.ask_service(Method::HEAD, account, None).await?;
    let key = match told.get(KEY).and_then(|key| key.to_str().ok()).filter(|key| !key.is_empty()) {
        Some(key) => Secret::from(key),
        None => {
            let key = Secret::from(&*random_id().simple().to_string());
            session.ask_service(Method::POST, account, Some((KEY, &key))).await?;
            key
        }
    };
    let container = container.map_or_else(|| format!("{name}-{}", random_id()), str::to_owned);
    let path = super::super::heat::path(&[&container]);
    session.ask_service(Method::PUT, &format!("{account}{path}"), None).await?;
    let object = super::super::heat::path(&[&container, name]);
    let expires = now().as_secs().saturating_add(minutes.saturating_mul(60));
    Ok(signed(account, &object, expires, &key))
}

/// The URL with its signature.
fn signed(account: &str, object: &str, expires: u64, key: &Secret) -> String {
    let url = format!("{account}{object}");
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let path = url[after_scheme..].find('/').map_or("/", |at| &url[after_scheme + at..]);
    let signature = signature(key.expose().as_bytes(), &format!("PUT\n{expires}\n{path}"));
    format!("{url}?temp_url_sig={signature}&temp_url_expires={expires}")
}

/// The hexadecimal HMAC-SHA-256 of a message.
fn signature(key: &[u8], message: &str) -> String {
    // HMAC takes keys of any length, so the fallback is never used.
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mac = mac.unwrap_or_else(|_| Hmac::new(&Default::default()));
    hex::encode(mac.chain_update(message).finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_signed_as_rfc_4231_has_it() {
        assert_eq!(
            signature(b"Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            signature(&[0xaa; 131], "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_url_is_signed_with_its_path() {
        let url =
            signed("http://h:8080/v1/AUTH_p", "/box/name", 1_400_003_600, &Secret::from("mykey"));
        let (address, query) = url.split_once('?').unwrap();
        assert_eq!(address, "http://h:8080/v1/AUTH_p/box/name");
        let message = "PUT\n1400003600\n/v1/AUTH_p/box/name";
        let signature = signature(b"mykey", message);
        assert_eq!(query, format!("temp_url_sig={signature}&temp_url_expires=1400003600"));
    }
}
