//! The contents of files: inline or at a URL, unpacked, and verified if there is a hash.

use super::plan::Source;
use crate::error::{GuestError, Result};
use crate::host::Host;
use crate::http::{Http, Request};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use flate2::read::MultiGzDecoder;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256, Sha512};
use std::io::Read;

/// The maximal size of contents, packed or unpacked.
const MAX_BYTES: u64 = 32 << 20;

/// Loads the contents of a source.
pub(super) fn load(host: &Host, source: &Source) -> Result<Vec<u8>> {
    let start: String = source.url.chars().take(80).collect();
    let wrong = |why: &str| GuestError::new(format!("{start}: {why}"));
    let raw = match source.url.split_once(':') {
        None if source.url.is_empty() => Vec::new(),
        Some(("data", rest)) => decode_data_url(rest).ok_or_else(|| wrong("invalid data URL"))?,
        Some(("http" | "https", _)) => fetch(host, &source.url)?,
        _ => return Err(wrong("only data, http and https URLs are supported")),
    };
    let plain = if source.is_packed {
        unpack(&raw).map_err(|error| wrong(&format!("cannot unpack: {error}")))?
    } else {
        raw
    };
    if plain.len() as u64 > MAX_BYTES {
        return Err(wrong("too large"));
    }
    // The hash is that of the unpacked contents.
    if source.hash.as_ref().is_some_and(|hash| !is_hash(hash, &plain)) {
        Err(wrong("the hash does not match"))
    } else {
        Ok(plain)
    }
}

fn unpack(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    // One more byte shows whether the limit is exceeded.
    MultiGzDecoder::new(packed).take(MAX_BYTES + 1).read_to_end(&mut plain)?;
    Ok(plain)
}

fn fetch(host: &Host, url: &str) -> Result<Vec<u8>> {
    let reply = Http::new(host).send_with_retries(host, &Request::new("GET", url).with_timeout(60));
    let reply = reply.map_err(|failed| GuestError::new(failed.to_string()))?;
    if reply.is_good() {
        Ok(reply.body)
    } else {
        Err(GuestError::new(format!("{url} returned status {}", reply.status)))
    }
}

/// Decodes a data URL: `[TYPE][;base64],DATA`.
fn decode_data_url(rest: &str) -> Option<Vec<u8>> {
    let (media_type, data) = rest.split_once(',')?;
    let plain: Vec<u8> = percent_decode_str(data).collect();
    if media_type.split(';').any(|it| it == "base64") {
        STANDARD.decode(&plain).or_else(|_| URL_SAFE.decode(&plain)).ok()
    } else {
        Some(plain)
    }
}

/// Verifies a hash: `sha256-…` or `sha512-…`.
fn is_hash(hash: &str, bytes: &[u8]) -> bool {
    match hash.split_once('-') {
        Some(("sha256", digits)) => {
            digits.eq_ignore_ascii_case(&hex::encode(Sha256::digest(bytes)))
        }
        Some(("sha512", digits)) => {
            digits.eq_ignore_ascii_case(&hex::encode(Sha512::digest(bytes)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn read(url: &str, is_packed: bool, hash: Option<&str>) -> Result<String> {
        let source = Source { url: url.into(), is_packed, hash: hash.map(str::to_owned) };
        let host = Host::new(BTreeMap::new());
        load(&host, &source).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn contents_stand_decode_data_urles() {
        for (url, text) in [
            ("data:,a%20b%0A", "a b\n"),
            ("data:text/plain;charset=utf-8,%C3%A9é%zz%", "éé%zz%"),
            ("data:;base64,aGVsbG8=", "hello"),
            ("data:text/plain;base64,aGVsbG8%3D", "hello"),
            ("", ""),
        ] {
            assert_eq!(read(url, false, None).as_deref(), Ok(text), "{url}");
        }
        for url in
            ["data:x", "data:;base64,#", "s3://bucket/x", "file:///etc/passwd", "/etc/passwd"]
        {
            assert!(read(url, false, None).is_err(), "{url}");
        }
    }

    #[test]
    fn contents_are_unpacked_and_examined() {
        let hello = "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==";
        let url = format!("data:;base64,{hello}");
        assert!(read("data:,hello", true, None).is_err());
        let hash = "sha256-2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(read("data:,hello", false, Some(hash)).as_deref(), Ok("hello"));
        assert_eq!(read(&url, true, Some(hash)).as_deref(), Ok("hello"));
        for hash in [hash.replace("2cf", "3cf"), "md5-x".into(), "".into()] {
            assert!(read("data:,hello", false, Some(&hash)).is_err(), "{hash}");
        }
    }
}
