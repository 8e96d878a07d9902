//! SSH keys as texts: Ed25519, in the forms that OpenSSH reads.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

/// A key pair as texts: the public key for servers, and the private key.
pub(super) struct KeyPair {
    pub(super) public: String,
    pub(super) private: String,
}

/// The number of random bytes for a key pair: the secret key, and a check number.
pub(super) const BYTES: usize = 36;

const ALGORITHM: &[u8] = b"ssh-ed25519";

/// Generates a key pair from random bytes; `None` if there are too few.
pub(super) fn key_pair(random: &[u8], comment: &str) -> Option<KeyPair> {
    let (seed, number) = random.split_at_checked(32)?;
    let number = number.get(..4)?;
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
    let key = pair.public_key().as_ref();
    let mut public = Vec::new();
    put(&mut public, ALGORITHM);
    put(&mut public, key);

    let mut secret = Vec::new();
    secret.extend_from_slice(number);
    secret.extend_from_slice(number);
    secret.extend_from_slice(&public);
    put(&mut secret, &[seed, key].concat());
    put(&mut secret, comment.as_bytes());
    // The format pads the last block with 1, 2, 3 and so on.
    for filling in 1..=8_u8 {
        if secret.len().is_multiple_of(8) {
            break;
        }
        secret.push(filling);
    }

    let mut file = b"openssh-key-v1\0".to_vec();
    put(&mut file, b"none");
    put(&mut file, b"none");
    put(&mut file, b"");
    file.extend_from_slice(&1_u32.to_be_bytes());
    put(&mut file, &public);
    put(&mut file, &secret);
    Some(KeyPair {
        public: format!("ssh-ed25519 {} {comment}", STANDARD.encode(&public)),
        private: armoured(&file),
    })
}

/// Appends bytes after their length.
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn armoured(file: &[u8]) -> String {
    const KIND: &str = "OPENSSH PRIVATE KEY";
    let text = STANDARD.encode(file);
    let mut out = format!("-----BEGIN {KIND}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(70));
        out.push_str(line);
        out.push('\n');
        rest = more;
    }
    out.push_str(&format!("-----END {KIND}-----\n"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_secret_has_its_known_public_key() {
        // The first test vector of RFC 8032.
        let seed = [
            0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec,
            0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03,
            0x1c, 0xae, 0x7f, 0x60, 1, 2, 3, 4,
        ];
        let pair = key_pair(&seed, "c").expect("enough bytes");
        assert_eq!(
            pair.public,
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea c"
        );
        assert!(pair.private.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXkt"));
        assert!(pair.private.lines().all(|line| line.len() <= 70));
        assert!(key_pair(&seed[..35], "c").is_none());
    }
}
