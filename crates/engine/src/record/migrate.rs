//! How a record of an earlier version becomes one of the current version.
//!
//! A new version N adds a folder `vN` with the types that changed, an arm here that reads version N - 1 and converts
//! it, and a folder of golden files. An arm is never removed: databases of any age stay readable.

use super::{Record, Unreadable, v0};

/// The first byte of a body of version 0 is a letter, so versions end before the letters begin.
const FIRST_LETTER: u8 = b'A';

/// Records are no deeper than this.
const MAX_DEPTH: usize = 300;

/// Reads a record of any known version.
pub(super) fn decode<R: Record>(bytes: &[u8]) -> Result<R, Unreadable> {
    let Some((&version, fields)) = bytes.split_first() else {
        return Err(Unreadable::malformed("it is empty"));
    };
    match version {
        1 => decode_fields(fields),
        FIRST_LETTER.. => R::from_v0(v0::decode(bytes)?),
        found => Err(Unreadable::Newer { found, known: R::VERSION }),
    }
}

/// Reads the fields of the current version.
fn decode_fields<R: Record>(fields: &[u8]) -> Result<R, Unreadable> {
    let mut deserializer = rmp_serde::Deserializer::new(fields);
    deserializer.set_max_depth(MAX_DEPTH);
    let record = R::deserialize(&mut deserializer)
        .map_err(|error| Unreadable::malformed(error.to_string()))?;
    if deserializer.get_ref().is_empty() {
        Ok(record)
    } else {
        Err(Unreadable::malformed("there are bytes behind its end"))
    }
}
