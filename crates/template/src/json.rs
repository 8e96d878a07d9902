//! JSON text into the tree, as Python's `json.loads` reads it.
//!
//! `NaN`, `Infinity` and `-Infinity` are numbers, integers have any size up to 4300 digits, and of
//! equal keys the last value wins. Half of a surrogate pair on its own is rejected: no text can
//! hold it. The reader keeps its own stack, so nesting does not consume the thread's.

use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::document::{Data, MapBuilder, Node};
use crate::limits::Limits;
use crate::names::Names;
use crate::read;
use crate::source::{FileId, Span};
use crate::value::Value;
use kiln_yaql::Integer;
use std::borrow::Cow;
use std::sync::Arc;

/// Reads one JSON document; without a tree, the last diagnostic says why.
pub fn read(file: FileId, text: &str, limits: &Limits) -> (Option<Node>, Vec<Diagnostic>) {
    if let Err(error) = read::check_size(file, text.len(), limits) {
        return (None, vec![*error]);
    }
    let mut reader =
        JsonReader { file, text, at: 0, limits, names: Names::new(), findings: Vec::new() };
    match reader.document() {
        Ok(node) => (Some(node), reader.findings),
        Err(failure) => {
            let error = failure.into_diagnostic(file);
            reader.findings.push(error);
            (None, reader.findings)
        }
    }
}

/// Parses JSON text that is a value, such as that of a parameter.
///
/// An error is in Python's words: clients see them. Lists and maps may be a hundred deep.
pub fn parse(text: &str) -> Result<Value, String> {
    let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    let mut reader = JsonReader {
        file: FileId::default(),
        text,
        at: 0,
        limits: &limits,
        names: Names::new(),
        findings: Vec::new(),
    };
    if text.starts_with('\u{feff}') {
        return Err(python_message("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0));
    }
    match reader.document() {
        Ok(node) => Ok(Value::from(&node)),
        Err(failure) => Err(python_message(failure.python.0, text, failure.python.1)),
    }
}

/// A syntax error with its position, worded as Python's `json` does.
fn python_message(problem: &str, text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{problem}: line {line} column {column} (char {})", before.chars().count())
}

/// A syntax error and its position.
struct JsonError {
    code: &'static Code,
    message: String,
    at: usize,
    end: usize,
    /// The error in Python's words, and the offset that it names.
    python: (&'static str, usize),
}

impl JsonError {
    fn into_diagnostic(self, file: FileId) -> Diagnostic {
        Diagnostic::error(self.code, self.message).at(Span::new(file, self.at, self.end))
    }
}

/// A list or map that is not closed yet.
enum Open {
    List { start: usize, items: Vec<Node> },
    Map { start: usize, members: MapBuilder, key: (Arc<str>, Span) },
}

/// The result of one step of reading.
enum ReadStep {
    /// A value is complete.
    Value(Node),
    /// A container was opened and its first value comes next.
    Enter,
}

struct JsonReader<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    limits: &'a Limits,
    names: Names,
    findings: Vec<Diagnostic>,
}

impl<'a> JsonReader<'a> {
    fn document(&mut self) -> Result<Node, JsonError> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            if let ReadStep::Value(value) = self.value(&mut open)?
                && let Some(root) = self.attach(value, &mut open)?
            {
                self.skip_space();
                return match self.peek() {
                    None => Ok(root),
                    Some(_) => Err(self.unexpected("the end of the document", "Extra data")),
                };
            }
        }
    }

    /// Reads a scalar or an empty container, or opens a container.
    fn value(&mut self, open: &mut Vec<Open>) -> Result<ReadStep, JsonError> {
        self.skip_space();
        let start = self.at;
        let data = match self.peek() {
            Some(b'[') => {
                self.check_depth(open)?;
                self.at += 1;
                self.skip_space();
                if self.peek() != Some(b']') {
                    open.push(Open::List { start, items: Vec::new() });
                    return Ok(ReadStep::Enter);
                }
                self.at += 1;
                Data::List(Box::default())
            }
            Some(b'{') => {
                self.check_depth(open)?;
                self.at += 1;
                self.skip_space();
                if self.peek() != Some(b'}') {
                    let key = self.key()?;
                    open.push(Open::Map { start, members: MapBuilder::default(), key });
                    return Ok(ReadStep::Enter);
                }
                self.at += 1;
                Data::Map(MapBuilder::default().finish())
            }
            Some(b'"') => Data::Text(self.shared_string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(ReadStep::Value(self.node(start, data)))
    }

    /// Puts a value where it belongs and closes what ends after it; returns the root once it is
    /// whole.
    fn attach(&mut self, value: Node, open: &mut Vec<Open>) -> Result<Option<Node>, JsonError> {
        let mut value = value;
        loop {
            let Some(mut container) = open.pop() else { return Ok(Some(value)) };
            self.skip_space();
            let next = self.peek();
            match &mut container {
                Open::List { items, .. } => items.push(value),
                Open::Map { members, key, .. } => {
                    let (key, span) = (Arc::clone(&key.0), key.1);
                    if let Some(first) = members.insert(key, span, value) {
                        read::warn_duplicate(&mut self.findings, first, span);
                    }
                }
            }
            match (&mut container, next) {
                (Open::List { .. }, Some(b',')) => self.at += 1,
                (Open::Map { key, .. }, Some(b',')) => {
                    self.at += 1;
                    self.skip_space();
                    *key = self.key()?;
                }
                (Open::List { .. }, Some(b']')) | (Open::Map { .. }, Some(b'}')) => {
                    self.at += 1;
                    value = match container {
                        Open::List { start, items } => self.node(start, Data::List(items.into())),
                        Open::Map { start, members, .. } => {
                            self.node(start, Data::Map(members.finish()))
                        }
                    };
                    continue;
                }
                (Open::List { .. }, _) => {
                    return Err(self.unexpected("`,` or `]`", "Expecting ',' delimiter"));
                }
                (Open::Map { .. }, _) => {
                    return Err(self.unexpected("`,` or `}`", "Expecting ',' delimiter"));
                }
            }
            open.push(container);
            return Ok(None);
        }
    }

    /// A key and the colon after it.
    fn key(&mut self) -> Result<(Arc<str>, Span), JsonError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            let python = "Expecting property name enclosed in double quotes";
            return Err(self.unexpected("a key in double quotes", python));
        }
        let key = self.shared_string()?;
        let span = Span::new(self.file, start, self.at);
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`", "Expecting ':' delimiter"));
        }
        self.at += 1;
        Ok((key, span))
    }

    fn shared_string(&mut self) -> Result<Arc<str>, JsonError> {
        let text = self.string()?;
        Ok(self.names.get(&text))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let open = self.at;
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20));
            let Some(plain) = plain else {
                return Err(self.unterminated(open));
            };
            text += &self.text[self.at..self.at + plain];
            self.at += plain;
            match rest[plain] {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => text.to_mut().push(self.escape(open)?),
                byte => {
                    let message = format!("a control character (U+{byte:04X}) inside quotes");
                    let python = ("Invalid control character at", self.at);
                    return Err(self.failure(self.at, self.at + 1, message, python));
                }
            }
        }
    }

    fn escape(&mut self, open: usize) -> Result<char, JsonError> {
        let start = self.at;
        let escaped = self.text.as_bytes().get(start + 1).copied();
        self.at += 2;
        Ok(match escaped {
            Some(c @ (b'"' | b'\\' | b'/')) => c as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            None => return Err(self.unterminated(open)),
            Some(_) => {
                let python = ("Invalid \\escape", start);
                return Err(self.failure(start, start + 1, "an unknown escape sequence", python));
            }
        })
    }

    /// The character of one `\uXXXX`, or of a pair of them that make up one character.
    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        let first = self.hex4(start)?;
        let behind = self.text.as_bytes().get(self.at..self.at + 2);
        let mut units = vec![first];
        if (0xD800..0xDC00).contains(&first) && behind == Some(b"\\u") {
            let next = self.at;
            self.at += 2;
            units.push(self.hex4(next)?);
        }
        match char::decode_utf16(units).next() {
            Some(Ok(c)) => Ok(c),
            _ => Err(JsonError {
                code: &codes::NOT_PLAIN_DATA,
                message: format!("\\u{first:04x} is half of a character; text cannot hold it"),
                at: start,
                end: start + 6,
                python: ("Invalid \\uXXXX escape", start + 1),
            }),
        }
    }

    fn hex4(&mut self, start: usize) -> Result<u16, JsonError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let unit = digits.and_then(|digits| {
            digits
                .iter()
                .try_fold(0, |sum, digit| Some(sum * 16 + (*digit as char).to_digit(16)? as u16))
        });
        if digits.is_some() && self.at + 4 == self.text.len() {
            // Python looks for one more character before it takes the digits.
            let python = ("Invalid \\uXXXX escape", start + 1);
            return Err(self.failure(
                start,
                self.text.len(),
                "the text has no closing quote",
                python,
            ));
        }
        self.at += 4;
        unit.ok_or_else(|| {
            let python = ("Invalid \\uXXXX escape", start + 1);
            self.failure(start, start + 2, "`\\u` needs four hexadecimal digits", python)
        })
    }

    fn number(&mut self) -> Result<Data, JsonError> {
        let start = self.at;
        if self.text[start..].starts_with("-Infinity") {
            self.at += "-Infinity".len();
            return Ok(Data::Float(f64::NEG_INFINITY));
        }
        self.eat(b"-");
        if !self.eat(b"0") && self.digits() == 0 {
            let failure = self.unexpected("a digit", "Expecting value");
            return Err(JsonError { python: (failure.python.0, start), ..failure });
        }
        let mut whole = true;
        if self.peek() == Some(b'.') && self.digit_at(self.at + 1) {
            whole = false;
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            let signed = matches!(self.text.as_bytes().get(self.at + 1), Some(b'+' | b'-'));
            let digits = self.at + 1 + usize::from(signed);
            if self.digit_at(digits) {
                whole = false;
                self.at = digits;
                self.digits();
            }
        }
        let text = &self.text[start..self.at];
        if !whole {
            return Ok(Data::Float(text.parse().unwrap_or(f64::NAN)));
        }
        Integer::parse(text).map(Data::Int).ok_or_else(|| JsonError {
            code: &codes::NOT_PLAIN_DATA,
            message: "an integer of more than 4300 digits".into(),
            at: start,
            end: self.at,
            python: ("Integer of more than 4300 digits", start),
        })
    }

    fn word(&mut self) -> Result<Data, JsonError> {
        const WORDS: [(&str, Data); 5] = [
            ("Infinity", Data::Float(f64::INFINITY)),
            ("NaN", Data::Float(f64::NAN)),
            ("false", Data::Bool(false)),
            ("null", Data::Null),
            ("true", Data::Bool(true)),
        ];
        for (word, data) in WORDS {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(data);
            }
        }
        Err(self.unexpected("a value", "Expecting value"))
    }

    fn check_depth(&self, open: &[Open]) -> Result<(), JsonError> {
        if open.len() < self.limits.depth() {
            return Ok(());
        }
        Err(JsonError {
            code: &codes::TOO_DEEP,
            message: read::too_deep(self.limits.depth()),
            at: self.at,
            end: self.at + 1,
            python: ("Nested too deeply", self.at),
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: &[u8; 1]) -> bool {
        let found = self.peek() == Some(byte[0]);
        self.at += usize::from(found);
        found
    }

    fn digit_at(&self, at: usize) -> bool {
        self.text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.digit_at(self.at) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn node(&self, start: usize, data: Data) -> Node {
        Node::new(Span::new(self.file, start, self.at), data)
    }

    fn unexpected(&self, wanted: &str, python: &'static str) -> JsonError {
        let python = (python, self.at);
        match self.text[self.at..].chars().next() {
            Some(c) => {
                let message = format!("expected {wanted}, found `{}`", c.escape_debug());
                self.failure(self.at, self.at + c.len_utf8(), message, python)
            }
            None => {
                let message = format!("expected {wanted}, found the end");
                self.failure(self.at, self.at, message, python)
            }
        }
    }

    fn unterminated(&self, open: usize) -> JsonError {
        let python = ("Unterminated string starting at", open);
        self.failure(open, self.text.len(), "the text has no closing quote", python)
    }

    fn failure(
        &self,
        at: usize,
        end: usize,
        message: impl Into<String>,
        python: (&'static str, usize),
    ) -> JsonError {
        JsonError { code: &codes::SYNTAX, message: message.into(), at, end, python }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_value() {
        for (text, expected) in [
            ("null", Value::Null),
            (" [1, 1.0, -0, 1e2, \"a\\u00e9\\ud83d\\ude00\"] ", {
                Value::list([1.into(), 1.0.into(), 0.into(), 100.0.into(), "aé😀".into()])
            }),
            ("{\"a\": 1, \"b\": {}, \"a\": 2}", {
                Value::map([("a", Value::from(2)), ("b", Value::map::<&str>([]))])
            }),
            ("-Infinity", f64::NEG_INFINITY.into()),
            ("NaN", f64::NAN.into()),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        assert_eq!(
            parse("123456789012345678901234567890").map(|v| crate::print::plain(&v)),
            Ok("123456789012345678901234567890".into())
        );
    }

    #[test]
    fn errors_have_the_words_of_python() {
        let name = "Expecting property name enclosed in double quotes";
        for (text, what, line, column, char) in [
            ("{", name, 1, 2, 1),
            ("[1,]", "Expecting value", 1, 4, 3),
            ("{\"a\":1,}", name, 1, 8, 7),
            ("{\"a\" 1}", "Expecting ':' delimiter", 1, 6, 5),
            ("\"abc", "Unterminated string starting at", 1, 1, 0),
            ("\"a\\q\"", "Invalid \\escape", 1, 3, 2),
            ("\"\\u12\"", "Invalid \\uXXXX escape", 1, 3, 2),
            ("\"\\u1234", "Invalid \\uXXXX escape", 1, 3, 2),
            ("01", "Extra data", 1, 2, 1),
            ("nul", "Expecting value", 1, 1, 0),
            ("\"é\"\n\n 1 2", "Extra data", 3, 2, 6),
            ("[1 2]", "Expecting ',' delimiter", 1, 4, 3),
            ("{\"a\":1", "Expecting ',' delimiter", 1, 7, 6),
            ("  ", "Expecting value", 1, 3, 2),
            ("\"a\nb\"", "Invalid control character at", 1, 3, 2),
            ("-", "Expecting value", 1, 1, 0),
            ("1.", "Extra data", 1, 2, 1),
            ("1e+", "Extra data", 1, 2, 1),
        ] {
            let expected = format!("{what}: line {line} column {column} (char {char})");
            assert_eq!(parse(text), Err(expected), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().starts_with("Nested too deeply"));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[\\[\\]{}\",:\\\\u0-9a-f.eE+ \\-nulé\u{1f600}]{0,24}") {
            let _ = parse(&text);
        }
    }
}
