//! Randomness, ids and passwords.
//!
//! Passwords and the secrets of application credentials are stored as argon2id hashes with cheap parameters (1 MiB,
//! two passes: about a millisecond). That is enough for a cloud on a developer's machine and far below the needs of a
//! public service; do not use it as an example.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// An internal error, which clients cannot cause.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("the system gives no randomness: {0}")]
    Random(getrandom::Error),
    #[error("a password cannot be hashed: {0}")]
    Hash(String),
}

/// Returns random bytes of the operating system.
pub(super) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(Error::Random)?;
    Ok(bytes)
}

/// Returns a new id: 32 hexadecimal digits.
pub(super) fn new_id() -> Result<String, Error> {
    Ok(hex::encode(random::<16>()?))
}

/// Returns an audit id: 16 random bytes in URL-safe base64, like Keystone's.
pub(super) fn audit_id() -> Result<String, Error> {
    Ok(URL_SAFE_NO_PAD.encode(random::<16>()?))
}

/// Returns a long random secret.
pub(super) fn long_secret() -> Result<String, Error> {
    Ok(URL_SAFE_NO_PAD.encode(random::<64>()?))
}

/// Derives an id that is the same on every machine: 32 hexadecimal digits.
pub(super) fn fixed_id(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(&hash.finalize()[..16])
}

/// Returns the SHA-256 hash of a text in hexadecimal digits.
pub(super) fn sha256_hex(text: &[u8]) -> String {
    hex::encode(Sha256::digest(text))
}

/// Computes the HMAC with SHA-256.
pub(super) fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    keyed(key).chain_update(text).finalize().into_bytes().into()
}

/// Computes the HMAC with SHA-1, for the older signatures.
pub(super) fn hmac_sha1(key: &[u8], text: &[u8]) -> [u8; 20] {
    let keyed = Hmac::<Sha1>::new_from_slice(key);
    let keyed = keyed.unwrap_or_else(|_| Hmac::new(&Default::default()));
    keyed.chain_update(text).finalize().into_bytes().into()
}

/// Verifies an HMAC in constant time.
pub(super) fn hmac_is(key: &[u8], text: &[u8], tag: &[u8]) -> bool {
    keyed(key).chain_update(text).verify_slice(tag).is_ok()
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // `new_from_slice` accepts keys of any length, so the error cannot occur.
    Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

/// Compares two secrets in constant time.
pub(super) fn same(one: &[u8], other: &[u8]) -> bool {
    hmac_is(b"compare", one, &hmac(b"compare", other))
}

/// Hashes a password for storage.
pub(super) fn hash_password(password: &str) -> Result<String, Error> {
    let fail = |error: String| Error::Hash(error);
    let params = Params::new(1024, 2, 1, None).map_err(|e| fail(e.to_string()))?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash: PasswordHash = argon
        .hash_password_with_salt(password.as_bytes(), &random::<16>()?)
        .map_err(|e| fail(e.to_string()))?;
    Ok(hash.to_string())
}

/// Verifies a password. Without a hash the check takes as long and fails, so that the time of a login does not reveal
/// which users exist.
pub(super) fn password_is(password: &str, hash: Option<&str>) -> bool {
    const NOBODY: &str = "$argon2id$v=19$m=1024,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                          AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let right = PasswordHash::new(hash.unwrap_or(NOBODY)).is_ok_and(|parsed| {
        Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok()
    });
    right && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_again_by_its_hash_only() {
        let hash = hash_password("tést").unwrap();
        assert!(password_is("tést", Some(&hash)));
        assert!(!password_is("test", Some(&hash)));
        assert!(!password_is("tést", None));
        assert!(!password_is("tést", Some("garbage")));
        assert_ne!(hash, hash_password("tést").unwrap(), "salted");
    }

    #[test]
    fn a_fixed_id_depends_on_every_part() {
        let id = fixed_id(&["user", "default", "demo"]);
        assert_eq!(id.len(), 32);
        assert_eq!(id, fixed_id(&["user", "default", "demo"]));
        assert_ne!(id, fixed_id(&["user", "defaultd", "emo"]));
    }

    #[test]
    fn an_hmac_is_as_published() {
        // RFC 4231, test case 2.
        let tag = hmac(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(
            hex::encode(tag),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert!(hmac_is(b"Jefe", b"what do ya want for nothing?", &tag));
        assert!(!hmac_is(b"Jefe", b"what do ya want for nothing!", &tag));
        assert!(same(b"a", b"a") && !same(b"a", b"b"));
        // RFC 2202, test case 2.
        let tag = hmac_sha1(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex::encode(tag), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    }
}
