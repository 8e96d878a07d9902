//! Values of templates in stored records.
//!
//! The only place where a hidden value can be serialised. The types are private to the records, whose bytes the store
//! encrypts.

use kiln_template::{Members, Secret, Value};
use kiln_yaql::Integer;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

/// The extension type of MessagePack that marks a hidden value: the bytes of the value itself.
const HIDDEN: i8 = 1;
/// The extension type of an integer of more than 64 bits: its decimal digits.
const INTEGER: i8 = 2;

/// A value in a record. A value that is not known yet is stored as null.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored(pub(crate) Value);

/// A map of values in a record.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredMembers(pub(crate) Arc<Members>);

/// An id in a record: its sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(pub(crate) Uuid);

impl Stored {
    /// Whether it is null, which records leave out.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.0, Value::Null | Value::Unknown(_))
    }
}

impl StoredMembers {
    /// Whether it has no members, which records leave out.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

// --- writing ---

struct Borrowed<'v>(&'v Value);
struct Bytes<'b>(&'b [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

fn extension<S: Serializer>(serializer: S, kind: i8, bytes: &[u8]) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_struct(rmp_serde::MSGPACK_EXT_STRUCT_NAME, &(kind, Bytes(bytes)))
}

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null | Value::Unknown(_) => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Int(number) => match number.as_i64() {
                Some(number) => serializer.serialize_i64(number),
                None => extension(serializer, INTEGER, number.to_string().as_bytes()),
            },
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    list.serialize_element(&Borrowed(item))?;
                }
                list.end()
            }
            Value::Map(members) => serialize_members(members, serializer),
            Value::Secret(secret) => {
                let bytes = rmp_serde::to_vec(&Borrowed(secret.expose()));
                extension(serializer, HIDDEN, &bytes.map_err(serde::ser::Error::custom)?)
            }
        }
    }
}

fn serialize_members<S: Serializer>(members: &Members, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(members.len()))?;
    for (name, value) in members {
        map.serialize_entry(&**name, &Borrowed(value))?;
    }
    map.end()
}

impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Borrowed(&self.0).serialize(serializer)
    }
}

impl Serialize for StoredMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_members(&self.0, serializer)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_bytes())
    }
}

// --- reading ---

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stored, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Stored)
    }
}

impl<'de> Deserialize<'de> for StoredMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoredMembers, D::Error> {
        match deserializer.deserialize_any(AnyValue)? {
            Value::Map(members) => Ok(StoredMembers(members)),
            _ => Err(de::Error::custom("it is not a map")),
        }
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        i64::try_from(number).map(Value::from).map_err(|_| E::custom("an integer is too large"))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Stored(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(Arc::new(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Members::new();
        while let Some(Name(name)) = map.next_key()? {
            let Stored(value) = map.next_value()?;
            members.insert(name, value);
        }
        Ok(Value::Map(Arc::new(members)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, extension: D) -> Result<Value, D::Error> {
        let (kind, OwnedBytes(bytes)): (i8, OwnedBytes) = Deserialize::deserialize(extension)?;
        let wrong = |why: &str| -> D::Error { de::Error::custom(why) };
        match kind {
            HIDDEN => {
                let Stored(value) = rmp_serde::from_slice(&bytes)
                    .map_err(|_| wrong("a hidden value is damaged"))?;
                if value.has_secret() {
                    return Err(wrong("a hidden value is hidden in another"));
                }
                Ok(Value::Secret(Secret::new(value)))
            }
            INTEGER => {
                let digits = std::str::from_utf8(&bytes).ok().and_then(Integer::parse);
                digits.map(Value::Int).ok_or_else(|| wrong("an integer is damaged"))
            }
            _ => Err(wrong("it has an extension that is not known")),
        }
    }
}

/// The name of a member.
struct Name(Arc<str>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E>(self, text: &str) -> Result<Name, E> {
                Ok(Name(text.into()))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

struct OwnedBytes(Vec<u8>);

impl<'de> Deserialize<'de> for OwnedBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OwnedBytes, D::Error> {
        struct BytesVisitor;
        impl Visitor<'_> for BytesVisitor {
            type Value = OwnedBytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<OwnedBytes, E> {
                Ok(OwnedBytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        struct IdVisitor;
        impl Visitor<'_> for IdVisitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the sixteen bytes of an id")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Id, E> {
                Uuid::from_slice(bytes).map(Id).map_err(E::custom)
            }
        }
        deserializer.deserialize_bytes(IdVisitor)
    }
}
