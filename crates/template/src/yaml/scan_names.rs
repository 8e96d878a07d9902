//! Scanning of what begins with `%`, `&`, `*` and `!`: directives, anchors, aliases and tags.

use super::cursor::{Mark, is_word};
use super::error::{YamlError, YamlResult};
use super::scanner::Scanner;
use super::token::{Directive, TokenKind, WrittenTag};
use crate::read::excerpt;
use std::borrow::Cow;

const DIRECTIVE: &str = "the directive";
const TAG: &str = "the tag";

impl<'a> Scanner<'a> {
    /// An anchor (`&name`) or alias (`*name`).
    pub(super) fn scan_name(&mut self) -> YamlResult<()> {
        let start = self.cursor.mark();
        let is_alias = self.cursor.byte(0) == b'*';
        self.cursor.skip(1);
        let name = self.scan_word();
        let ends = self.cursor.is_gap(0)
            || matches!(self.cursor.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            let what = if is_alias { "the alias" } else { "the anchor" };
            let message = format!("expected letters, digits, `-` or `_`, found {}", self.found());
            return Err(self.error(message).within(start, what));
        }
        self.push(if is_alias { TokenKind::Alias } else { TokenKind::Anchor }, start);
        Ok(())
    }

    /// A tag: `!<name>`, `!handle!name`, `!!name`, `!name` or `!`.
    pub(super) fn scan_tag(&mut self) -> YamlResult<()> {
        let start = self.cursor.mark();
        let tag = if self.cursor.byte(1) == b'<' {
            self.cursor.skip(2);
            let suffix = self.scan_uri(start, true)?;
            if suffix.is_empty() {
                return Err(self.no_uri(start));
            }
            if self.cursor.byte(0) != b'>' {
                let message = format!("expected `>`, found {}", self.found());
                return Err(self.error(message).within(start, TAG));
            }
            self.cursor.skip(1);
            WrittenTag { handle: "", suffix }
        } else {
            self.scan_short_tag(start)?
        };
        let ends = self.cursor.is_gap(0) || (self.flow > 0 && self.cursor.byte(0) == b',');
        if !ends {
            let message = format!("expected a space or a line break, found {}", self.found());
            return Err(self.error(message).within(start, TAG));
        }
        self.push(TokenKind::Tag(self.tags.len() as u32), start);
        self.tags.push(tag);
        Ok(())
    }

    fn scan_short_tag(&mut self, start: Mark) -> YamlResult<WrittenTag<'a>> {
        let handle = self.scan_handle();
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.scan_uri(start, false)?;
            if suffix.is_empty() {
                return Err(self.no_uri(start));
            }
            return Ok(WrittenTag { handle, suffix });
        }
        // What looked like a handle is the beginning of the name.
        let rest = self.scan_uri(start, false)?;
        let word = handle.strip_prefix('!').unwrap_or_default();
        let suffix = match rest {
            Cow::Borrowed(rest) => {
                let from = start.at() + 1;
                Cow::Borrowed(self.cursor.slice(from, from + word.len() + rest.len()))
            }
            Cow::Owned(rest) => Cow::Owned(format!("{word}{rest}")),
        };
        if suffix.is_empty() {
            return Ok(WrittenTag { handle: "", suffix: Cow::Borrowed("!") });
        }
        Ok(WrittenTag { handle: "!", suffix })
    }

    /// A directive with its line.
    pub(super) fn scan_directive(&mut self) -> YamlResult<()> {
        let start = self.cursor.mark();
        self.cursor.skip(1);
        let name = self.scan_word();
        if name.is_empty() {
            let message = format!("expected the name of a directive, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE).help(Some(
                "put the text in quotes if the `%` belongs to it: a line that begins with `%` is a directive",
            )));
        }
        if !self.cursor.is_gap(0) {
            let message =
                format!("expected a space after the name of the directive, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE));
        }
        let directive = match name {
            "YAML" => self.scan_version(start)?,
            "TAG" => self.scan_tag_directive(start)?,
            _ => {
                let name = excerpt(name);
                let message = format!("`%{name}` is no directive; there are `%YAML` and `%TAG`");
                return Err(self.error(message).within(start, DIRECTIVE));
            }
        };
        self.push(TokenKind::Directive(self.directives.len() as u32), start);
        self.directives.push(directive);
        self.cursor.skip_blanks();
        if self.cursor.byte(0) == b'#' {
            self.cursor.skip_to_line_end();
        }
        if !self.cursor.is_line_end(0) {
            let message = format!("expected a comment or a line break, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE));
        }
        self.cursor.take_break();
        Ok(())
    }

    fn scan_version(&mut self, start: Mark) -> YamlResult<Directive<'a>> {
        self.cursor.skip_blanks();
        let major = self.scan_version_number(start)?;
        if self.cursor.byte(0) != b'.' {
            let message = format!("expected a digit or `.`, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE));
        }
        self.cursor.skip(1);
        let minor = self.scan_version_number(start)?;
        Ok(Directive::Version { major, minor })
    }

    fn scan_version_number(&mut self, start: Mark) -> YamlResult<u32> {
        let mut number: u32 = 0;
        let mut digits = 0;
        while let digit @ b'0'..=b'9' = self.cursor.byte(0) {
            digits += 1;
            if digits > 9 {
                let message = "the version number is too long";
                return Err(self.error(message).within(start, DIRECTIVE));
            }
            number = number * 10 + u32::from(digit - b'0');
            self.cursor.skip(1);
        }
        if digits == 0 {
            let message = format!("expected a version number, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE));
        }
        Ok(number)
    }

    fn scan_tag_directive(&mut self, start: Mark) -> YamlResult<Directive<'a>> {
        self.cursor.skip_blanks();
        let handle = if self.cursor.byte(0) == b'!' { self.scan_handle() } else { "" };
        if handle.is_empty() || (handle.len() > 1 && !handle.ends_with('!')) {
            let message = format!("expected a handle between `!`s, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE));
        }
        if !self.cursor.is_blank() {
            let message = format!("expected a space, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE));
        }
        self.cursor.skip_blanks();
        let prefix = self.scan_uri(start, true)?;
        if prefix.is_empty() {
            return Err(self.no_uri(start));
        }
        if !self.cursor.is_gap(0) {
            let message = format!("expected a space or a line break, found {}", self.found());
            return Err(self.error(message).within(start, DIRECTIVE));
        }
        Ok(Directive::Tag { handle, prefix })
    }

    /// `!`, `!word` or `!word!`; the cursor is at the first character.
    fn scan_handle(&mut self) -> &'a str {
        let start = self.cursor.at();
        self.cursor.skip(1);
        self.scan_word();
        if self.cursor.byte(0) == b'!' {
            self.cursor.skip(1);
        }
        self.cursor.slice(start, self.cursor.at())
    }

    fn scan_word(&mut self) -> &'a str {
        let start = self.cursor.at();
        self.cursor.skip_word();
        self.cursor.slice(start, self.cursor.at())
    }

    /// The characters of a tag's name, with `%41` for `A`; `flow` lets `,`, `[` and `]` in.
    fn scan_uri(&mut self, start: Mark, flow: bool) -> YamlResult<Cow<'a, str>> {
        let mut name = Cow::Borrowed("");
        loop {
            let from = self.cursor.at();
            while is_uri(self.cursor.byte(0), flow) {
                self.cursor.skip(1);
            }
            let part = self.cursor.slice(from, self.cursor.at());
            if name.is_empty() {
                name = Cow::Borrowed(part);
            } else {
                name.to_mut().push_str(part);
            }
            if self.cursor.byte(0) != b'%' {
                return Ok(name);
            }
            let c = self.scan_uri_escape(start)?;
            name.to_mut().push(c);
        }
    }

    /// One character as its bytes in UTF-8, each as `%` and two hexadecimal digits.
    fn scan_uri_escape(&mut self, start: Mark) -> YamlResult<char> {
        let mut bytes = [0; 4];
        let mut length = 1;
        let mut read = 0;
        while read < length {
            let digit = |ahead| (self.cursor.byte(ahead) as char).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.cursor.byte(0), digit(1), digit(2)) else {
                let message = "expected `%` and two hexadecimal digits";
                return Err(self.error(message).within(start, TAG));
            };
            let byte = (high * 16 + low) as u8;
            if read == 0 {
                length = match byte {
                    0..0x80 => 1,
                    0xC0..0xE0 => 2,
                    0xE0..0xF0 => 3,
                    0xF0..0xF8 => 4,
                    _ => return Err(self.no_character(start)),
                };
            }
            bytes[read] = byte;
            read += 1;
            self.cursor.skip(3);
        }
        let decoded = std::str::from_utf8(&bytes[..length]).ok();
        decoded.and_then(|c| c.chars().next()).ok_or_else(|| self.no_character(start))
    }

    fn no_character(&self, start: Mark) -> Box<YamlError> {
        self.error("the escaped bytes are no character in UTF-8").within(start, TAG)
    }

    fn no_uri(&self, start: Mark) -> Box<YamlError> {
        self.error(format!("expected the name of a tag, found {}", self.found())).within(start, TAG)
    }

    /// The next character in words.
    pub(super) fn found(&self) -> String {
        match self.cursor.rest().chars().next() {
            None => "the end of the text".into(),
            Some('\n' | '\r') => "the end of the line".into(),
            Some('\t') => "a tab".into(),
            Some(c) => format!("`{}`", c.escape_debug()),
        }
    }
}

fn is_uri(byte: u8, flow: bool) -> bool {
    is_word(byte)
        || b";/?:@&=+$.!~*'()".contains(&byte)
        || (flow && matches!(byte, b',' | b'[' | b']'))
}
