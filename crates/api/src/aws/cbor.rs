//! CBOR (RFC 8949): the subset that the requests of AWS's newer tools and our responses use.

use super::rpc::{Typed, iso};
use kiln_template::{Members, Value, print};
use std::sync::Arc;

/// Deeper than this nothing is nested that an action reads.
const DEEPEST: usize = 16;

/// A tag: seconds since 1970.
const EPOCH: u64 = 1;

/// The value in a body; nothing if it cannot be read.
pub(super) fn read(body: &[u8]) -> Option<Value> {
    let mut reader = Reader { rest: body };
    let value = reader.item(0)?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'b> {
    rest: &'b [u8],
}

/// How long something is: so long, or up to a break.
type Length = Option<u64>;

impl<'b> Reader<'b> {
    fn take(&mut self, length: u64) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: u64) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads the head of the next item: its major type, and its length or its number.
    fn head(&mut self) -> Option<(u8, Length)> {
        let first = *self.take(1)?.first()?;
        let length = match first & 0x1f {
            short @ 0..24 => Some(u64::from(short)),
            long @ 24..28 => Some(self.number(1 << (long - 24))?),
            31 => None,
            _ => return None,
        };
        Some((first >> 5, length))
    }

    fn is_break(&mut self) -> bool {
        let is_break = self.rest.first() == Some(&0xff);
        if is_break {
            self.rest = &self.rest[1..];
        }
        is_break
    }

    /// Whether a list or a map goes on, of which so many parts were read.
    fn goes_on(&mut self, length: Length, read: u64) -> Option<bool> {
        match length {
            Some(length) => Some(read < length),
            None if self.rest.is_empty() => None,
            None => Some(!self.is_break()),
        }
    }

    fn map(&mut self, length: Length, depth: usize) -> Option<Value> {
        let mut members = Members::new();
        let mut read = 0;
        while self.goes_on(length, read)? {
            let (3, length) = self.head()? else { return None };
            let name = self.text(length)?;
            members.insert(name.into(), self.item(depth + 1)?);
            read += 1;
        }
        Some(Value::Map(Arc::new(members)))
    }

    fn list(&mut self, length: Length, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        while self.goes_on(length, items.len() as u64)? {
            items.push(self.item(depth + 1)?);
        }
        Some(Value::list(items))
    }

    fn text(&mut self, length: Length) -> Option<String> {
        if let Some(length) = length {
            return String::from_utf8(self.take(length)?.to_vec()).ok();
        }
        let mut text = String::new();
        while !self.is_break() {
            let (3, Some(length)) = self.head()? else { return None };
            text.push_str(std::str::from_utf8(self.take(length)?).ok()?);
        }
        Some(text)
    }

    /// Reads the next item.
    fn item(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        let first = *self.rest.first()?;
        Some(match self.head()? {
            (0, Some(number)) => number.to_string().into(),
            (1, Some(number)) => (-1 - i128::from(number)).to_string().into(),
            (3, length) => self.text(length)?.into(),
            (4, length) => self.list(length, depth)?,
            (5, length) => self.map(length, depth)?,
            (6, Some(EPOCH)) => iso(self.plain()?)?.into(),
            (7, Some(20)) => false.into(),
            (7, Some(21)) => true.into(),
            // Null and undefined.
            (7, Some(22 | 23)) => Value::Null,
            (7, Some(bits)) => Value::Float(float(first, bits)?),
            _ => return None,
        })
    }

    /// Reads a number of any kind.
    fn plain(&mut self) -> Option<f64> {
        let first = *self.rest.first()?;
        match self.head()? {
            (0, Some(number)) => Some(number as f64),
            (1, Some(number)) => Some(-1.0 - number as f64),
            (7, Some(bits)) => float(first, bits),
            _ => None,
        }
    }
}

/// A number with a point, of two, four or eight bytes.
fn float(first: u8, bits: u64) -> Option<f64> {
    match first {
        0xf9 => {
            let (sign, exponent, part) = (bits >> 15, bits >> 10 & 0x1f, (bits & 0x3ff) as f64);
            let size = match exponent {
                0 => part * 2f64.powi(-24),
                31 if part == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                exponent => (1.0 + part / 1024.0) * 2f64.powi(i32::try_from(exponent).ok()? - 15),
            };
            Some(if sign == 1 { -size } else { size })
        }
        0xfa => Some(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        0xfb => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// Encodes a value in CBOR, without members that are null.
pub(super) fn written(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write("", value, &mut out);
    out
}

fn write(name: &str, value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Map(members) => {
            let there: Vec<_> = members.iter().filter(|(_, value)| !value.is_null()).collect();
            head(5, there.len() as u64, out);
            for (name, value) in there {
                text(name, out);
                write(name, value, out);
            }
        }
        Value::List(items) => {
            let there: Vec<_> = items.iter().filter(|value| !value.is_null()).collect();
            head(4, there.len() as u64, out);
            there.iter().for_each(|value| write("", value, out));
        }
        Value::Bool(flag) => out.push(if *flag { 0xf5 } else { 0xf4 }),
        Value::Null => out.push(0xf6),
        Value::Float(number) => double(*number, out),
        Value::Int(_) => number(&print::plain(value), out),
        Value::Text(it) => match Typed::parse(name, it) {
            Typed::Moment(seconds) => {
                head(6, EPOCH, out);
                double(seconds, out);
            }
            Typed::Number => number(it, out),
            Typed::Text => text(it, out),
        },
        other => text(&print::plain(other), out),
    }
}

/// A number in digits, or the text if it is none.
fn number(digits: &str, out: &mut Vec<u8>) {
    match (digits.parse::<i64>(), digits.parse::<f64>()) {
        (Ok(number), _) if number < 0 => head(1, number.unsigned_abs() - 1, out),
        (Ok(number), _) => head(0, number.unsigned_abs(), out),
        (Err(_), Ok(number)) => double(number, out),
        (Err(_), Err(_)) => text(digits, out),
    }
}

fn double(number: f64, out: &mut Vec<u8>) {
    out.push(0xfb);
    out.extend(number.to_bits().to_be_bytes());
}

fn text(text: &str, out: &mut Vec<u8>) {
    head(3, text.len() as u64, out);
    out.extend(text.as_bytes());
}

fn head(major: u8, number: u64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let (short, long) = match number {
        0..24 => (bytes[7], &bytes[8..]),
        24..0x100 => (24, &bytes[7..]),
        0x100..0x1_0000 => (25, &bytes[6..]),
        0x1_0000..0x1_0000_0000 => (26, &bytes[4..]),
        _ => (27, &bytes[..]),
    };
    out.push(major << 5 | short);
    out.extend(long);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(digits: &str) -> Vec<u8> {
        hex::decode(digits).unwrap()
    }

    fn printed(hex: &str) -> Option<String> {
        read(&bytes(hex)).map(|value| print::json(&value, print::Keys::Ordered))
    }

    /// The examples of RFC 8949.
    #[test]
    #[rustfmt::skip]
    fn items_are_as_published() {
        for (hex, text) in [
            ("00", "\"0\""), ("17", "\"23\""), ("1818", "\"24\""), ("1903e8", "\"1000\""), ("1a000f4240", "\"1000000\""),
            ("1bffffffffffffffff", "\"18446744073709551615\""), ("20", "\"-1\""), ("3903e7", "\"-1000\""),
            ("f93c00", "1.0"), ("f90001", "5.960464477539063e-08"), ("f9c400", "-4.0"), ("f6", "null"),
            ("fa47c35000", "100000.0"), ("fb3ff199999999999a", "1.1"), ("f4", "false"), ("f5", "true"),
            ("6449455446", "\"IETF\""), ("7f657374726561646d696e67ff", "\"streaming\""),
            ("c11a514b67b0", "\"2013-03-21T20:04:00Z\""), ("c1fb41d452d9ec200000", "\"2013-03-21T20:04:00.5Z\""),
            ("a26161016162820203", r#"{"a": "1", "b": ["2", "3"]}"#),
            ("bf61610161629f0203ffff", r#"{"a": "1", "b": ["2", "3"]}"#),
        ] {
            assert_eq!(printed(hex).as_deref(), Some(text), "{hex}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn nonsense_is_refused_and_harmless() {
        let deep = format!("{}{}", "81".repeat(200), "00");
        for hex in ["", "a1", "a161", "a16161", "18", "636161", "62c328", "bf", "bf6161", "ff", "5bffffffffffffffff",
            "a1016161", "0000", "7bffffffffffffffff00", "9bffffffffffffffff", "c17b", "c1fb7ff8000000000000", "1c", &deep] {
            assert_eq!(printed(hex), None, "{hex}");
        }
    }

    #[test]
    fn answers_are_read_by_others() {
        let value = kiln_template::json::parse(
            r#"{"A": [1, -1, 1000, 0.5, true, null, "x"], "B": null, "Timestamp": "2013-03-21T20:04:00Z",
                "Threshold": "2", "Average": "0.5", "Value": "2"}"#,
        );
        let written = hex::encode(written(&value.unwrap()));
        let expected = "a5 6141 86 01 20 1903e8 fb3fe0000000000000 f5 6178 \
             69 54696d657374616d70 c1fb41d452d9ec000000 69 5468726573686f6c64 02 \
             67 41766572616765 fb3fe0000000000000 65 56616c7565 6132";
        assert_eq!(written, expected.replace(' ', ""));
    }
}
