//! What stands in files: in the configuration itself, or elsewhere; unpacked, and examined if there is a hash.

use super::plan::Source;
use crate::host::Host;
use crate::http::{Http, Request};
use crate::problem::{Problem, Result};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256, Sha512};
use std::io::Read;

/// Longer than this nothing is, unpacked or not.
const LONGEST: u64 = 32 << 20;

/// What a source gives.
pub(super) fn of(host: &Host, source: &Source) -> Result<Vec<u8>> {
    let shown: String = source.url.chars().take(80).collect();
    let wrong = |why: &str| Problem::new(format!("{shown}: {why}"));
    let given = match source.url.split_once(':') {
        None if source.url.is_empty() => Vec::new(),
        Some(("data", rest)) => in_address(rest).ok_or_else(|| wrong("its data cannot be read"))?,
        Some(("http" | "https", _)) => fetched(host, &source.url)?,
        _ => return Err(wrong("only data, http and https are read")),
    };
    let plain = if source.is_packed {
        unpacked(&given).map_err(|error| wrong(&format!("it cannot be unpacked: {error}")))?
    } else {
        given
    };
    if plain.len() as u64 > LONGEST {
        return Err(wrong("it is too long"));
    }
    // The hash is that of what comes of it.
    if source.hash.as_ref().is_some_and(|hash| !is_hash(hash, &plain)) {
        Err(wrong("what is there is not what was hashed"))
    } else {
        Ok(plain)
    }
}

fn unpacked(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    // One more tells whether there is more than there may be.
    MultiGzDecoder::new(packed).take(LONGEST + 1).read_to_end(&mut plain)?;
    Ok(plain)
}

fn fetched(host: &Host, url: &str) -> Result<Vec<u8>> {
    let reply = Http::new(host).send_patiently(host, &Request::new("GET", url).within(60));
    let reply = reply.map_err(|failed| Problem::new(failed.to_string()))?;
    if reply.is_good() {
        Ok(reply.body)
    } else {
        Err(Problem::new(format!("{url} answered with {}", reply.status)))
    }
}

/// What stands in an address: `[TYPE][;base64],DATA`.
fn in_address(rest: &str) -> Option<Vec<u8>> {
    let (kind, data) = rest.split_once(',')?;
    let plain = unquoted(data);
    if kind.split(';').any(|it| it == "base64") {
        STANDARD.decode(&plain).or_else(|_| URL_SAFE.decode(&plain)).ok()
    } else {
        Some(plain)
    }
}

/// A text with its escapes resolved; what is no escape stays.
fn unquoted(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                plain.push(code);
                at += 3;
            }
            None => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    plain
}

/// Whether bytes have a hash: `sha256-…` or `sha512-…`.
fn is_hash(hash: &str, bytes: &[u8]) -> bool {
    let hexadecimal =
        |digest: &[u8]| -> String { digest.iter().map(|byte| format!("{byte:02x}")).collect() };
    match hash.split_once('-') {
        Some(("sha256", told)) => told.eq_ignore_ascii_case(&hexadecimal(&Sha256::digest(bytes))),
        Some(("sha512", told)) => told.eq_ignore_ascii_case(&hexadecimal(&Sha512::digest(bytes))),
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
        of(&host, &source).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn contents_stand_in_addresses() {
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
