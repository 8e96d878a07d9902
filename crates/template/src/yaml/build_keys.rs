//! Keys of mappings: text, the way it would travel as JSON.

use super::build::{Builder, Built};
use super::error::hints;
use super::number;
use super::tag::Tag;
use super::tape::{NodeShape, Tape, TapeNode};
use crate::codes;
use crate::document::Data;
use kiln_yaql::{Integer, python};
use std::collections::HashMap;
use std::sync::Arc;

/// The numbers among the keys of one mapping.
#[derive(Default)]
pub(super) struct NumericKeys {
    /// Whether equal numbers can have different texts.
    is_mixed: bool,
    /// The text of each number so far, if they are mixed.
    texts: Option<HashMap<NumericKey, Arc<str>>>,
}

/// A number as a key: equal numbers are one key, whatever their type.
#[derive(PartialEq, Eq, Hash)]
enum NumericKey {
    Whole(Integer),
    Broken(u64),
}

impl NumericKeys {
    /// Prepares for a key.
    #[inline]
    pub(super) fn expect(&mut self, tape: &Tape<'_>, key: &TapeNode) {
        if matches!(key.tag, Tag::Int | Tag::Float | Tag::Bool) && canonical(tape, key).is_none() {
            self.is_mixed = true;
        }
    }

    /// Prepares for any key.
    pub(super) fn expect_any(&mut self) {
        self.is_mixed = true;
    }
}

impl Builder<'_, '_> {
    /// A key as text. Of equal numbers the first one's text counts.
    pub(super) fn key(&mut self, index: u32, keys: &mut NumericKeys) -> Built<Arc<str>> {
        let item = self.item(index);
        if matches!(item.tag, Tag::Str | Tag::Value)
            && let Some(text) = self.tape.value(item)
        {
            self.count()?;
            return Ok(self.names.get(text));
        }
        if !keys.is_mixed
            && let Some(text) = canonical(self.tape, item)
        {
            self.count()?;
            return Ok(self.names.get(text));
        }
        if self.item(self.target(index)).tag == Tag::Value {
            return Ok(self.scalar(self.target(index))?.into());
        }
        let (numeric, text) = match self.node(index)?.data {
            Data::Text(text) => return Ok(text),
            Data::Null => return Ok("null".into()),
            Data::Bool(flag) => {
                let text = if flag { "true" } else { "false" };
                (NumericKey::Whole(i64::from(flag).into()), text.into())
            }
            Data::Int(number) => {
                let text = number.to_string();
                (NumericKey::Whole(number), text)
            }
            Data::Float(number) => match NumericKey::from_f64(number) {
                Some(numeric) => (numeric, python::float(number)),
                None if number.is_nan() => return Ok("NaN".into()),
                None => return Ok(if number > 0.0 { "Infinity" } else { "-Infinity" }.into()),
            },
            Data::List(_) | Data::Map(_) => {
                let message = "a list or a map cannot be a key";
                let error = self.refuse(&codes::SYNTAX, index, message);
                let source = self.tape.text.get(item.start as usize..).unwrap_or_default();
                let braces = source.starts_with('{');
                return Err(if braces { Box::new(error.help(hints::QUOTE_BRACES)) } else { error });
            }
        };
        let texts = keys.texts.get_or_insert_default();
        Ok(texts.entry(numeric).or_insert_with(|| text.into()).clone())
    }
}

impl NumericKey {
    fn from_f64(number: f64) -> Option<NumericKey> {
        let whole = Integer::from_f64(number)?;
        Some(if number.fract() == 0.0 {
            NumericKey::Whole(whole)
        } else {
            NumericKey::Broken(number.to_bits())
        })
    }
}

/// The text of a key that is an integer written the way that integers are printed.
fn canonical<'t>(tape: &'t Tape<'_>, key: &TapeNode) -> Option<&'t str> {
    if key.tag != Tag::Int || key.shape != NodeShape::Plain {
        return None;
    }
    let text = tape.value(key)?;
    number::canonical(text).map(|_| text)
}
