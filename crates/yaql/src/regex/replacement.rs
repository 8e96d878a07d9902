//! Replacement texts with references to groups, as in `re.sub`.

use super::Regex;
use super::parse::Cursor;
use crate::error::{Error, FailureClass};
use std::ops::Range;

/// A replacement that was read.
pub(crate) struct Replacement {
    parts: Vec<ReplacementPart>,
}

enum ReplacementPart {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// Reads a replacement for matches of a pattern.
    pub(crate) fn new(text: &str, regex: &Regex) -> Result<Replacement, Error> {
        let mut reader = ReplacementParser { cursor: Cursor::new(text), regex, parts: Vec::new() };
        reader.read().map_err(|message| Error::failure(FailureClass::Regex, message))?;
        Ok(Replacement { parts: reader.parts })
    }

    /// Appends the replacement for a match in a text.
    pub(crate) fn expand(&self, text: &str, groups: &[Option<Range<usize>>], out: &mut String) {
        for part in &self.parts {
            match part {
                ReplacementPart::Text(part) => out.push_str(part),
                ReplacementPart::Group(number) => {
                    let range = groups.get(*number).cloned().flatten().unwrap_or(0..0);
                    out.push_str(text.get(range).unwrap_or_default());
                }
            }
        }
    }
}

struct ReplacementParser<'a> {
    cursor: Cursor,
    regex: &'a Regex,
    parts: Vec<ReplacementPart>,
}

impl ReplacementParser<'_> {
    fn read(&mut self) -> Result<(), String> {
        while let Some(c) = self.cursor.next() {
            if c == '\\' {
                self.escape()?;
            } else {
                self.push(c);
            }
        }
        Ok(())
    }

    fn push(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(ReplacementPart::Text(text)) => text.push(c),
            _ => self.parts.push(ReplacementPart::Text(c.into())),
        }
    }

    fn group(&mut self, number: usize, at: usize) -> Result<(), String> {
        if number > self.regex.group_count() {
            return Err(self.cursor.error(&format!("invalid group reference {number}"), at));
        }
        self.parts.push(ReplacementPart::Group(number));
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let start = self.cursor.at - 1;
        let Some(c) = self.cursor.next() else {
            return Err(self.cursor.error("bad escape (end of pattern)", start));
        };
        let plain = match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' => '\\',
            'g' => return self.named(start),
            '0' => {
                let digits = self.cursor.take_while(2, |c| c.is_digit(8));
                super::set::octal(&self.cursor, &format!("0{digits}"), start)?
            }
            '1'..='9' => return self.numbered(c, start),
            c if c.is_ascii_alphabetic() => return Err(self.cursor.bad_escape(start)),
            c => {
                self.push('\\');
                c
            }
        };
        self.push(plain);
        Ok(())
    }

    fn numbered(&mut self, first: char, start: usize) -> Result<(), String> {
        let mut digits = first.to_string() + &self.cursor.take_while(1, |c| c.is_ascii_digit());
        let octal = digits.len() == 2 && digits.chars().all(|c| c.is_digit(8));
        if octal && self.cursor.peek().is_some_and(|c| c.is_digit(8)) {
            digits.extend(self.cursor.next());
            let c = super::set::octal(&self.cursor, &digits, start)?;
            self.push(c);
            return Ok(());
        }
        self.group(digits.parse().unwrap_or(usize::MAX), start + 1)
    }

    fn named(&mut self, start: usize) -> Result<(), String> {
        if !self.cursor.take('<') {
            return Err(self.cursor.error("missing <", self.cursor.at));
        }
        let at = start + 3;
        let Some(name) = self.cursor.take_until('>') else {
            let empty = self.cursor.peek().is_none();
            let message = if empty { "missing group name" } else { "missing >, unterminated name" };
            return Err(self.cursor.error(message, at));
        };
        if name.is_empty() {
            return Err(self.cursor.error("missing group name", at));
        }
        if name.chars().all(|c| c.is_ascii_digit()) {
            return self.group(name.parse().unwrap_or(usize::MAX), at);
        }
        match self.regex.names().iter().find(|(known, _)| **known == *name) {
            Some((_, number)) => self.group(*number, at),
            None => Err(format!("unknown group name {}", crate::python::quoted(&name))),
        }
    }
}
