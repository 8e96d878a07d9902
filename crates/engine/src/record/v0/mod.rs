//! The form of bodies before they had a version (0): read for ever, written no more.
//!
//! A body was one value: a byte that says what follows, with lengths as variable-length numbers of seven bits a byte.
//! Parts that are not known and parts that are missing make a record unreadable.

mod alarm;
mod command;
mod fields;
mod recipe;
mod resource;
mod stack;
#[cfg(feature = "simulation")]
mod write;

#[cfg(feature = "simulation")]
pub use write::downgrade;

use super::Unreadable;
use fields::Fields;
use kiln_template::{Members, Secret, Value};
use kiln_yaql::Integer;
use std::sync::Arc;

/// Values are no deeper than this.
const MAX_DEPTH: usize = 256;

/// Reads a value.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, Unreadable> {
    let mut reader = Reader { bytes };
    let value = reader.value(0)?;
    if reader.bytes.is_empty() { Ok(value) } else { Err(not_a_value()) }
}

fn not_a_value() -> Unreadable {
    Unreadable::malformed("its bytes are damaged; restore the database from a backup")
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(not_a_value());
        }
        Ok(match self.take(1)?[0] {
            b'n' => Value::Null,
            b'f' => Value::Bool(false),
            b't' => Value::Bool(true),
            b'i' => {
                let bits = self.length()?;
                Value::from((bits >> 1) as i64 ^ -((bits & 1) as i64))
            }
            b'I' => Value::Int(Integer::parse(self.text()?).ok_or_else(not_a_value)?),
            b'd' => {
                let bytes = self.take(8)?.try_into().map_err(|_| not_a_value())?;
                Value::Float(f64::from_le_bytes(bytes))
            }
            b's' => Value::Text(self.text()?.into()),
            b'l' => {
                let length = self.length()?;
                let mut items = Vec::new();
                for _ in 0..length {
                    items.push(self.value(depth + 1)?);
                }
                Value::List(Arc::new(items))
            }
            b'm' => {
                let length = self.length()?;
                let mut members = Members::new();
                for _ in 0..length {
                    let name = self.text()?.into();
                    members.insert(name, self.value(depth + 1)?);
                }
                Value::Map(Arc::new(members))
            }
            b'x' => Value::Secret(Secret::new(self.value(depth + 1)?)),
            _ => return Err(not_a_value()),
        })
    }

    fn text(&mut self) -> Result<&'a str, Unreadable> {
        let length = usize::try_from(self.length()?).map_err(|_| not_a_value())?;
        std::str::from_utf8(self.take(length)?).map_err(|_| not_a_value())
    }

    fn length(&mut self) -> Result<u64, Unreadable> {
        let mut length = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            length |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(not_a_value())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(not_a_value)?;
        self.bytes = rest;
        Ok(taken)
    }
}
