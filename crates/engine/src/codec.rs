//! Values as bytes, exactly: what is written is what is read, hidden parts included.
//!
//! One byte says what follows; lengths are variable-length numbers, seven bits a byte. Bodies of rows
//! are written like this and then encrypted, so nobody reads them but us.

use kiln_template::value::{Members, Secret, Value};
use kiln_yaql::Integer;
use std::sync::Arc;

/// Bytes that are not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not a value")]
pub struct NotAValue;

/// Values are no deeper than this.
const MAX_DEPTH: usize = 256;

/// Writes a value. What is not known yet is written as null: nothing unknown is ever stored.
pub fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    write(value, &mut out);
    out
}

/// Reads a value.
pub fn decode(bytes: &[u8]) -> Result<Value, NotAValue> {
    let mut reader = Reader { bytes };
    let value = reader.value(0)?;
    if reader.bytes.is_empty() { Ok(value) } else { Err(NotAValue) }
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null | Value::Unknown(_) => out.push(b'n'),
        Value::Bool(false) => out.push(b'f'),
        Value::Bool(true) => out.push(b't'),
        Value::Int(number) => match number.as_i64() {
            Some(number) => {
                out.push(b'i');
                // Small numbers of either sign are short.
                write_length(((number << 1) ^ (number >> 63)) as u64, out);
            }
            None => {
                out.push(b'I');
                write_text(&number.to_string(), out);
            }
        },
        Value::Float(number) => {
            out.push(b'd');
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Text(text) => {
            out.push(b's');
            write_text(text, out);
        }
        Value::List(items) => {
            out.push(b'l');
            write_length(items.len() as u64, out);
            items.iter().for_each(|item| write(item, out));
        }
        Value::Map(members) => {
            out.push(b'm');
            write_length(members.len() as u64, out);
            for (name, value) in members.iter() {
                write_text(name, out);
                write(value, out);
            }
        }
        Value::Secret(secret) => {
            out.push(b'x');
            write(secret.expose(), out);
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_length(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn write_length(mut length: u64, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, NotAValue> {
        if depth > MAX_DEPTH {
            return Err(NotAValue);
        }
        Ok(match self.take(1)?[0] {
            b'n' => Value::Null,
            b'f' => Value::Bool(false),
            b't' => Value::Bool(true),
            b'i' => {
                let bits = self.length()?;
                Value::from((bits >> 1) as i64 ^ -((bits & 1) as i64))
            }
            b'I' => Value::Int(Integer::parse(self.text()?).ok_or(NotAValue)?),
            b'd' => {
                let bytes = self.take(8)?.try_into().map_err(|_| NotAValue)?;
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
            _ => return Err(NotAValue),
        })
    }

    fn text(&mut self) -> Result<&'a str, NotAValue> {
        let length = usize::try_from(self.length()?).map_err(|_| NotAValue)?;
        std::str::from_utf8(self.take(length)?).map_err(|_| NotAValue)
    }

    fn length(&mut self) -> Result<u64, NotAValue> {
        let mut length = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            length |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(NotAValue)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], NotAValue> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(NotAValue)?;
        self.bytes = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "-?[1-9][0-9]{20,40}".prop_map(|digits| Value::Int(Integer::parse(&digits).unwrap())),
            proptest::num::f64::NORMAL.prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::list),
                proptest::collection::vec((".{0,5}", inner.clone()), 0..5).prop_map(Value::map),
                inner.prop_map(|value| Value::Secret(Secret::new(value))),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_is_read(value in any_value()) {
            let read = decode(&encode(&value)).unwrap();
            prop_assert_eq!(read.has_secret(), value.has_secret());
            prop_assert_eq!(read.exposed(), value.exposed());
        }

        #[test]
        fn any_bytes_are_a_value_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            _ = decode(&bytes);
        }
    }

    #[test]
    fn what_is_cut_off_too_long_or_too_deep_is_refused() {
        let bytes = encode(&Value::map([("a", Value::list([1.into(), "x".into()]))]));
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end]), Err(NotAValue));
        }
        assert_eq!(decode(&[&bytes[..], b"n"].concat()), Err(NotAValue));
        assert_eq!(decode(&[b"x".repeat(100_000), b"n".to_vec()].concat()), Err(NotAValue));
    }
}
