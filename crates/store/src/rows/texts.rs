//! The column `texts`: why a row is in its state, and the id of its object. Both may repeat what a user wants hidden, so
//! they are sealed. They are apart from the body because lists show them, and bodies are large.

use crate::cipher::{BodyKind, Cipher};
use crate::error::DbError;
use crate::table::{Column, TableRow};
use kiln_engine::PhysicalId;
use std::borrow::Cow;
use std::sync::Arc;

/// The texts of a row.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Texts {
    pub(crate) reason: Arc<str>,
    pub(crate) physical_id: Option<PhysicalId>,
}

/// As they are sealed: the reason, the id, and whether readers must not see the id.
type Stored<'a> = (Cow<'a, str>, Option<Cow<'a, str>>, bool);

impl Texts {
    /// The sealed texts of the row with a key; nothing if there are none.
    pub(crate) fn seal(
        &self,
        cipher: &Cipher,
        kind: BodyKind,
        key: &[u8],
    ) -> Result<Vec<u8>, DbError> {
        if self.reason.is_empty() && self.physical_id.is_none() {
            return Ok(Vec::new());
        }
        let id = self.physical_id.as_ref();
        let stored: Stored<'_> = (
            Cow::Borrowed(&self.reason),
            id.map(|id| Cow::Borrowed(&**id.text())),
            id.is_some_and(PhysicalId::is_hidden),
        );
        let plain = serde_json::to_vec(&stored).map_err(|error| unreadable(kind, &error))?;
        cipher.seal(kind, key, &plain)
    }

    /// The texts that were sealed for the row with a key.
    pub(crate) fn open(
        cipher: &Cipher,
        kind: BodyKind,
        key: &[u8],
        sealed: &[u8],
    ) -> Result<Texts, DbError> {
        if sealed.is_empty() {
            return Ok(Texts::default());
        }
        let plain = cipher.open(kind, key, sealed)?;
        let (reason, id, is_hidden): Stored<'_> =
            serde_json::from_slice(&plain).map_err(|error| unreadable(kind, &error))?;
        let physical_id = id.map(|id| match is_hidden {
            true => PhysicalId::hidden(&*id),
            false => PhysicalId::new(&*id),
        });
        Ok(Texts { reason: (&*reason).into(), physical_id })
    }
}

/// The error does not say what is in the texts.
fn unreadable(kind: BodyKind, error: &serde_json::Error) -> DbError {
    DbError::Damaged {
        what: format!("{kind:?}"),
        why: format!(
            "they are no JSON (column {}); was it written by a newer Kiln?",
            error.column()
        ),
    }
}

/// A row with texts.
pub(crate) trait HasTexts: TableRow {
    /// What its texts are sealed as.
    const TEXTS: BodyKind;

    /// Its texts.
    fn texts(&self) -> Texts;

    /// Sets its texts.
    fn set_texts(&mut self, texts: Texts);
}

/// The column with the texts of a row.
pub(super) const fn texts_column<R: HasTexts>() -> Column<R> {
    Column::sealed(
        "texts",
        |row: &R, cipher| row.texts().seal(cipher, R::TEXTS, &row.key()),
        |row: &mut R, cipher, sealed| {
            let texts = Texts::open(cipher, R::TEXTS, &row.key(), sealed)?;
            row.set_texts(texts);
            Ok(())
        },
    )
}
