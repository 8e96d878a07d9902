//! Stored records: what the bodies of rows are, as types with a version.
//!
//! A body is one byte with the version of its form, and the fields in MessagePack. The types of the current
//! version are in [`v1`]; bodies of the form before versions (0) are read by [`v0`] and never written. Reading
//! is strict: a field, a variant or a version that is not known, and a field that is missing, make a record
//! [`Unreadable`]. Nothing is replaced by a default.
//!
//! A row is rewritten in the current form when it is next written; nothing rewrites all rows at once.

mod command;
mod conversions;
mod migrate;
mod parked;
mod recipe;
#[cfg(test)]
mod tests;
mod tree;
pub(crate) mod v0;
pub(crate) mod v1;
mod value;

pub use parked::is_parked;
pub(crate) use parked::{
    CommandRefusal, ParkCause, parking_batch, placeholder_tree, state_before_parking,
};
pub(crate) use value::{Id, Stored, StoredMembers};

use crate::store::StoreError;
use kiln_template::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// A stored record.
pub(crate) trait Record: Serialize + DeserializeOwned {
    /// What the record is called in errors and in the names of its golden files.
    const NAME: &'static str;

    /// The version that is written.
    const VERSION: u8 = 1;

    /// The record that was stored before bodies had a version.
    fn from_v0(value: Value) -> Result<Self, Unreadable>;

    /// The record as bytes of the current version.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(128);
        bytes.push(Self::VERSION);
        let mut serializer = rmp_serde::Serializer::new(&mut bytes).with_struct_map();
        match self.serialize(&mut serializer) {
            Ok(()) => bytes,
            // Memory does not refuse bytes, and no record has a sequence of unknown length.
            Err(error) => unreachable!("a {} cannot be encoded: {error}", Self::NAME),
        }
    }

    /// The record that bytes of any known version stand for.
    fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        migrate::decode(bytes)
    }

    /// The record in the body of a row. An error names the row.
    fn read(bytes: &[u8], id: impl fmt::Display) -> Result<Self, StoreError> {
        Self::decode(bytes).map_err(|error| error.of(Self::NAME, id))
    }
}

/// Why a record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The record was written by a version of Kiln that came later.
    #[error(
        "it was written by a newer version of Kiln (form {found}, this version reads up to {known}): upgrade Kiln"
    )]
    Newer {
        /// The version of the record.
        found: u8,
        /// The last version that is known here.
        known: u8,
    },
    /// The bytes are not a record of the version that they claim to be.
    #[error("{0}")]
    Malformed(String),
}

impl Unreadable {
    /// Something about a record is not as it must be.
    pub(crate) fn malformed(why: impl Into<String>) -> Unreadable {
        Unreadable::Malformed(why.into())
    }

    /// The same, with the name of the field where it was found.
    pub(crate) fn within(self, field: &str) -> Unreadable {
        match self {
            Unreadable::Malformed(why) => Unreadable::Malformed(format!("{field}: {why}")),
            newer => newer,
        }
    }

    /// The error of a store that holds such a record.
    pub(crate) fn of(&self, name: &str, id: impl fmt::Display) -> StoreError {
        let what = format!("{name} {id}");
        match self {
            Unreadable::Newer { .. } => StoreError::Newer { what, why: self.to_string() },
            Unreadable::Malformed(why) => StoreError::Damaged { what, why: why.clone() },
        }
    }
}
