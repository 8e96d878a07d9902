//! Encryption of bodies: AES-256-GCM with random nonces.
//!
//! The kind and the id of its row are part of what a body is sealed with, so that no body can stand in for
//! another. A sealed body is a version (1 byte), the id of the key (4), the nonce (12), and the text with
//! its tag (16 more than the text).

use crate::error::DbError;
use crate::keys::{KeyError, Ring, Stamp, stamp};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use kiln_engine::store::Hash;
use parking_lot::RwLock;
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const VERSION: u8 = 1;
const HEAD: usize = 1 + 4 + 12;

/// The kind of row that a body belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Stack,
    Recipe,
    Resource,
    Event,
    /// Values in the export of a stack, which are in no row.
    Export,
    Command,
    Content,
    Setting,
    Object,
    Snapshot,
    Alarm,
    AlarmEvent,
    Series,
    StackTexts,
    ResourceTexts,
    EventTexts,
    SnapshotTexts,
}

impl BodyKind {
    fn name(self) -> &'static str {
        match self {
            BodyKind::Stack => "stack",
            BodyKind::Recipe => "recipe",
            BodyKind::Resource => "resource",
            BodyKind::Event => "event",
            BodyKind::Export => "export",
            BodyKind::Command => "command",
            BodyKind::Content => "text",
            BodyKind::Setting => "setting",
            BodyKind::Object => "object",
            BodyKind::Snapshot => "snapshot",
            BodyKind::Alarm => "alarm",
            BodyKind::AlarmEvent => "alarm history",
            BodyKind::Series => "series",
            BodyKind::StackTexts => "texts of stack",
            BodyKind::ResourceTexts => "texts of resource",
            BodyKind::EventTexts => "texts of event",
            BodyKind::SnapshotTexts => "texts of snapshot",
        }
    }
}

/// Seals and opens bodies.
pub(crate) struct Cipher {
    path: PathBuf,
    loaded: RwLock<Arc<Loaded>>,
}

struct Loaded {
    stamp: Stamp,
    ring: Ring,
    /// By key id, the newest last.
    ciphers: Vec<(u32, Aes256Gcm)>,
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Cipher {
    /// A cipher with the keys of a file.
    pub(crate) fn load(path: &Path) -> Result<Cipher, KeyError> {
        let loaded = RwLock::new(Arc::new(Loaded::load(path)?));
        Ok(Cipher { path: path.to_owned(), loaded })
    }

    /// The file that the keys are in.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the key that encrypts.
    pub(crate) fn newest(&self) -> u32 {
        self.loaded().ciphers.last().map_or(0, |(id, _)| *id)
    }

    /// Whether there is a key with an id.
    pub(crate) fn has(&self, key: u32) -> bool {
        self.loaded().cipher(key).is_some()
    }

    /// Reads the file again if it has changed. Before each piece of work that writes: what is written
    /// after a new key came is sealed with it.
    pub(crate) fn refresh(&self) -> Result<(), DbError> {
        if stamp(&self.path).map_err(DbError::Keys)? != self.loaded().stamp {
            let fresh = Arc::new(Loaded::load(&self.path).map_err(DbError::Keys)?);
            tracing::info!(path = %self.path.display(), "the key file has changed and is read again");
            *self.loaded.write() = fresh;
        }
        Ok(())
    }

    /// The keys of the file, as it was last read.
    pub(crate) fn ring(&self) -> Ring {
        self.loaded().ring.clone()
    }

    /// Encrypts the body of a row.
    pub(crate) fn seal(&self, kind: BodyKind, id: &[u8], body: &[u8]) -> Result<Vec<u8>, DbError> {
        let loaded = self.loaded();
        let no_key = || damaged(kind, id, "there is no key to encrypt it with".to_owned());
        let (key, cipher) = loaded.ciphers.last().ok_or_else(no_key)?;
        let mut nonce = [0; 12];
        getrandom::fill(&mut nonce).map_err(|error| DbError::Keys(KeyError::Random(error)))?;
        let bound = bound(kind, id);
        let payload = Payload { msg: body, aad: &bound };
        let text = cipher
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| damaged(kind, id, "it is too long to be encrypted".to_owned()))?;
        let mut sealed = Vec::with_capacity(HEAD + text.len());
        sealed.push(VERSION);
        sealed.extend(key.to_be_bytes());
        sealed.extend(nonce);
        sealed.extend(text);
        Ok(sealed)
    }

    /// Decrypts the body of a row.
    pub(crate) fn open(
        &self,
        kind: BodyKind,
        id: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, DbError> {
        let damaged = |why: &str| damaged(kind, id, why.to_owned());
        let restore = "it was altered or cut short; restore the database from a backup";
        let key = key_of(sealed).ok_or_else(|| damaged(restore))?;
        let mut loaded = self.loaded();
        if loaded.cipher(key).is_none() {
            // Another process may have added it.
            self.refresh()?;
            loaded = self.loaded();
        }
        let cipher = loaded.cipher(key).ok_or_else(|| {
            damaged(&format!(
                "it was encrypted with key {key:08x}, which the key file {} has not; copy the file from \
                 a machine that has it, or restore it from a backup",
                self.path.display()
            ))
        })?;
        let nonce: [u8; 12] = sealed[5..HEAD].try_into().map_err(|_| damaged(restore))?;
        let bound = bound(kind, id);
        let payload = Payload { msg: &sealed[HEAD..], aad: &bound };
        cipher.decrypt(&Nonce::from(nonce), payload).map_err(|_| damaged(restore))
    }

    /// The value of a column by which rows with a reason are found.
    pub(crate) fn reason_key(&self, reason: &str) -> [u8; 32] {
        self.lookup(Hash::of(reason.as_bytes()))
    }

    /// A key for another purpose, which stays when the keys are rotated.
    pub(crate) fn derived(&self, purpose: &str) -> [u8; 32] {
        let key = self.loaded();
        // No text has a hash that is followed by anything.
        let hash = Sha256::new()
            .chain_update(key.ring.lookup.0)
            .chain_update(Hash::of(purpose.as_bytes()).0);
        hash.chain_update(b"derived").finalize().into()
    }

    /// The key by which a text is found: a keyed hash, so that a reader of the database alone does not learn
    /// whether it holds a text that he knows or guesses.
    pub(crate) fn lookup(&self, hash: Hash) -> [u8; 32] {
        let key = self.loaded();
        Sha256::new().chain_update(key.ring.lookup.0).chain_update(hash.0).finalize().into()
    }

    fn loaded(&self) -> Arc<Loaded> {
        self.loaded.read().clone()
    }
}

impl Loaded {
    fn load(path: &Path) -> Result<Loaded, KeyError> {
        // The stamp first: if the file changes in between, it is read once too often.
        let stamp = stamp(path)?;
        let ring = Ring::read(path)?;
        let ciphers =
            ring.keys.iter().map(|key| (key.id(), Aes256Gcm::new(&key.0.into()))).collect();
        Ok(Loaded { stamp, ring, ciphers })
    }

    fn cipher(&self, key: u32) -> Option<&Aes256Gcm> {
        self.ciphers.iter().find(|(id, _)| *id == key).map(|(_, cipher)| cipher)
    }
}

/// The key that a body was sealed with; none if it is no sealed body.
pub(crate) fn key_of(sealed: &[u8]) -> Option<u32> {
    if sealed.len() < HEAD + 16 || sealed[0] != VERSION {
        return None;
    }
    key_of_start(sealed)
}

/// The end of the id of the key in a sealed body.
pub(crate) const KEY_END: usize = 5;

/// The key in the first bytes of a sealed body.
pub(crate) fn key_of_start(start: &[u8]) -> Option<u32> {
    match start.get(..KEY_END)? {
        [VERSION, key @ ..] => Some(u32::from_be_bytes(key.try_into().ok()?)),
        _ => None,
    }
}

fn bound(kind: BodyKind, id: &[u8]) -> Vec<u8> {
    [kind.name().as_bytes(), b" ", id].concat()
}

fn damaged(kind: BodyKind, id: &[u8], why: String) -> DbError {
    let name = match (uuid::Uuid::from_slice(id), kind) {
        (_, BodyKind::Setting) => String::from_utf8_lossy(id).into_owned(),
        (Ok(id), _) => id.to_string(),
        (Err(_), _) => id.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let part = if kind.name().starts_with("texts") { "the" } else { "the body of" };
    DbError::Damaged { what: format!("{part} {} {name}", kind.name()), why }
}
