//! Temporary URLs, which are signed with a key of the account or of the container.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::super::http::encode;
use super::super::request::RequestContext;
use super::super::state::format_time;
use super::{ACCOUNTS, CONTAINERS, ObjectPath, container_key, header};

/// Reports whether the URL has a valid signature for this method and object that has not expired.
pub(super) fn is_valid(ctx: &RequestContext<'_>, target: &ObjectPath, method: &str) -> bool {
    let (Some(signature), Some(expires)) =
        (ctx.request.query("temp_url_sig"), ctx.request.query("temp_url_expires"))
    else {
        return false;
    };
    if target.object.is_empty() {
        return false;
    }
    let seconds = ctx.now() / 1_000_000;
    let late = match expires.parse::<i64>() {
        Ok(end) => end < seconds,
        Err(_) => *expires < *format_time(ctx.now(), "%Y-%m-%dT%H:%M:%SZ"),
    };
    if late {
        return false;
    }
    let account = ctx.state.copy(ACCOUNTS, &target.account);
    let container = ctx.state.copy(CONTAINERS, &container_key(target));
    let keys = [
        header(&account, "x-account-meta-temp-url-key"),
        header(&account, "x-account-meta-temp-url-key-2"),
        header(&container, "x-container-meta-temp-url-key"),
        header(&container, "x-container-meta-temp-url-key-2"),
    ];
    // A signature for a more powerful method is valid for a weaker one.
    let methods: &[&str] = match method {
        "HEAD" => &["HEAD", "GET", "PUT", "POST"],
        "GET" => &["GET"],
        "PUT" => &["PUT"],
        "POST" => &["POST"],
        "DELETE" => &["DELETE"],
        _ => &[],
    };
    let path = format!("/v1/AUTH_{}/{}/{}", target.account, target.container, target.object);
    // Clients sign the path as they know it: with the prefix of this service or without, encoded or not.
    let paths = [
        path.clone(),
        format!("/object-store{path}"),
        encode(&path),
        encode(&format!("/object-store{path}")),
    ];
    keys.iter().filter(|key| !key.is_empty()).any(|key| {
        methods.iter().any(|method| {
            paths
                .iter()
                .any(|path| is_signed(key, &format!("{method}\n{expires}\n{path}"), signature))
        })
    })
}

fn is_signed(key: &str, text: &str, signature: &str) -> bool {
    let wanted = match signature.split_once(':') {
        Some((_, coded)) => URL_SAFE.decode(coded).or_else(|_| STANDARD.decode(coded)).ok(),
        None => hex::decode(signature).ok(),
    };
    let Some(wanted) = wanted else { return false };
    match wanted.len() {
        20 => Hmac::<Sha1>::new_from_slice(key.as_bytes())
            .is_ok_and(|mac| mac.chain_update(text).verify_slice(&wanted).is_ok()),
        32 => Hmac::<Sha256>::new_from_slice(key.as_bytes())
            .is_ok_and(|mac| mac.chain_update(text).verify_slice(&wanted).is_ok()),
        64 => Hmac::<Sha512>::new_from_slice(key.as_bytes())
            .is_ok_and(|mac| mac.chain_update(text).verify_slice(&wanted).is_ok()),
        _ => false,
    }
}
