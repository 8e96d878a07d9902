//! Scanning of scalars that flow: plain and quoted ones, folded at their line breaks.
//!
//! A scalar on one line without escapes is a piece of the text; only others are copied.

use super::cursor::{DOUBLE_STOP, FLOW_STOP, Mark, PLAIN_STOP, QUOTED_STOP, SINGLE_STOP};
use super::error::{YamlError, YamlResult, hints};
use super::event::Style;
use super::scanner::{Scalar, Scanner};

/// A run of line breaks and the white space around them.
#[derive(Default)]
struct Fold {
    /// What the first break means; empty if it was escaped away.
    first: &'static str,
    /// What the others mean.
    others: String,
}

impl Scanner<'_> {
    pub(super) fn scan_plain(&mut self) -> YamlResult<Scalar> {
        let start = self.cursor.mark();
        let end = self.skip_plain_line(start)?;
        if self.cursor.line_break(0) > 0 {
            if !self.skip_last_break() {
                return self.fold_plain(start, end);
            }
            self.key_allowed = true;
        }
        Ok(Scalar { style: Style::Plain, built: None, start, end })
    }

    /// Steps over the line break after a plain scalar and to the next token, if it is certain that
    /// the scalar ends there.
    fn skip_last_break(&mut self) -> bool {
        let line_end = (self.cursor.at(), self.cursor.mark());
        while self.cursor.byte(0) == b'\n' {
            self.cursor.take_line_feed();
            self.cursor.skip_spaces();
        }
        let is_certain = self.flow == 0
            && i64::from(self.cursor.column()) <= self.indent
            && matches!(self.cursor.byte(0), b'!'..=b'~');
        if !is_certain {
            self.cursor.go_to(line_end.0, line_end.1);
        }
        is_certain
    }

    #[inline(never)]
    /// The rest of a plain scalar that may go on after a line break, which comes next.
    fn fold_plain(&mut self, start: Mark, first_end: Mark) -> YamlResult<Scalar> {
        let indent = self.indent + 1;
        let mut value: Option<String> = None;
        let mut fold = Fold::default();
        let mut end = first_end;
        while self.cursor.line_break(0) > 0 {
            self.skip_plain_breaks(start, indent, &mut fold)?;
            if (self.flow == 0 && i64::from(self.cursor.column()) < indent)
                || self.cursor.is_document_indicator()
                || self.cursor.byte(0) == b'#'
            {
                break;
            }
            let from = self.cursor.at();
            let line_end = self.skip_plain_line(start)?;
            if line_end.at() > from {
                let first = || self.cursor.slice(start.at(), first_end.at()).to_owned();
                let value = value.get_or_insert_with(first);
                std::mem::take(&mut fold).join(value);
                value.push_str(self.cursor.slice(from, line_end.at()));
                end = line_end;
            }
        }
        if !fold.first.is_empty() {
            self.key_allowed = true;
        }
        let built = value.and_then(|value| self.keep(value));
        Ok(Scalar { style: Style::Plain, built, start, end })
    }

    /// Steps over the words of one line and the blanks around them; returns the end of the last
    /// word.
    #[inline]
    fn skip_plain_line(&mut self, start: Mark) -> YamlResult<Mark> {
        let stop = if self.flow > 0 { FLOW_STOP } else { PLAIN_STOP };
        let mut end = self.cursor.mark();
        let mut word = self.cursor.at();
        loop {
            self.cursor.skip_until(stop);
            match self.cursor.byte(0) {
                b' ' | b'\t' => {
                    end = self.cursor.mark();
                    self.cursor.skip_blanks();
                    if self.cursor.byte(0) == b'#' {
                        return Ok(end);
                    }
                    word = self.cursor.at();
                }
                b':' if self.cursor.is_gap(1) => break,
                b':' if self.flow > 0 && b",?[]{}".contains(&self.cursor.byte(1)) => {
                    let message = "expected a space after `:` in bare text between brackets";
                    let error = self.error(message).within(start, "the text");
                    return Err(error.help(Some(hints::SPACE_AFTER_COLON)));
                }
                b'\n' | b'\r' | b',' | b'[' | b']' | b'{' | b'}' | 0 => break,
                0xC2 | 0xE2 if self.cursor.line_break(0) > 0 => break,
                _ => self.cursor.skip_char(),
            }
        }
        Ok(if self.cursor.at() > word { self.cursor.mark() } else { end })
    }

    fn skip_plain_breaks(&mut self, start: Mark, indent: i64, fold: &mut Fold) -> YamlResult<()> {
        loop {
            self.skip_break_into(fold);
            while self.cursor.is_blank() {
                let indents = i64::from(self.cursor.column()) < indent;
                if indents && self.cursor.byte(0) == b'\t' {
                    let message = "expected the rest of the text indented with spaces, found a tab";
                    let error = self.error(message).within(start, "the text");
                    return Err(error.help(Some(hints::TABS)));
                }
                self.cursor.skip(1);
            }
            if self.cursor.line_break(0) == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn scan_quoted(&mut self, style: Style) -> YamlResult<Scalar> {
        let start = self.cursor.mark();
        let quote = self.cursor.byte(0);
        self.cursor.skip(1);
        let inside = (self.cursor.at(), self.cursor.mark());
        self.cursor.skip_until(if quote == b'"' { DOUBLE_STOP } else { SINGLE_STOP });
        let closes = self.cursor.byte(0) == quote;
        if closes && (quote == b'"' || self.cursor.byte(1) != b'\'') {
            self.cursor.skip(1);
            return Ok(Scalar { style, built: None, start, end: self.cursor.mark() });
        }
        self.cursor.go_to(inside.0, inside.1);
        let value = self.quoted_value(start, quote)?;
        let built = self.keep(value);
        Ok(Scalar { style, built, start, end: self.cursor.mark() })
    }

    /// The value of a quoted scalar with escapes, line breaks or unusual characters.
    fn quoted_value(&mut self, start: Mark, quote: u8) -> YamlResult<String> {
        let mut value = String::new();
        let mut from = self.cursor.at();
        loop {
            if self.cursor.is_document_indicator() {
                return Err(self.unclosed(start, "a document marker"));
            }
            self.skip_quoted_part();
            let part_end = self.cursor.at();
            self.cursor.skip_blanks();
            let here = self.cursor.at();
            let escape = quote == b'"' && self.cursor.byte(0) == b'\\';
            match self.cursor.byte(0) {
                0 => return Err(self.unclosed(start, "the end of the text")),
                byte if byte == quote => {
                    value.push_str(self.cursor.slice(from, here));
                    self.cursor.skip(1);
                    if quote == b'"' || self.cursor.byte(0) != b'\'' {
                        return Ok(value);
                    }
                    from = self.cursor.at();
                    self.cursor.skip(1);
                }
                _ if escape && self.cursor.line_break(1) > 0 => {
                    value.push_str(self.cursor.slice(from, here));
                    self.cursor.skip(1);
                    self.cursor.take_break();
                    let mut fold = Fold::default();
                    self.skip_quoted_breaks(&mut fold);
                    value.push_str(&fold.others);
                    from = self.cursor.at();
                }
                _ if escape => {
                    value.push_str(self.cursor.slice(from, here));
                    value.push(self.scan_escape(start)?);
                    from = self.cursor.at();
                }
                _ if self.cursor.line_break(0) > 0 => {
                    value.push_str(self.cursor.slice(from, part_end));
                    let mut fold = Fold::default();
                    self.skip_break_into(&mut fold);
                    self.skip_quoted_breaks(&mut fold);
                    fold.join(&mut value);
                    from = self.cursor.at();
                }
                _ => self.cursor.skip_char(),
            }
        }
    }

    /// Steps over characters that stand for themselves.
    fn skip_quoted_part(&mut self) {
        loop {
            self.cursor.skip_until(QUOTED_STOP);
            if matches!(self.cursor.byte(0), 0xC2 | 0xE2) && self.cursor.line_break(0) == 0 {
                self.cursor.skip_char();
            } else {
                return;
            }
        }
    }

    /// Steps over further breaks and the blanks in front of the next character.
    fn skip_quoted_breaks(&mut self, fold: &mut Fold) {
        self.cursor.skip_blanks();
        while self.cursor.line_break(0) > 0 {
            fold.others.push_str(self.cursor.take_break());
            self.cursor.skip_blanks();
        }
    }

    fn skip_break_into(&mut self, fold: &mut Fold) {
        let meaning = match self.cursor.take_break() {
            "\u{2028}" => "\u{2028}",
            "\u{2029}" => "\u{2029}",
            _ => "\n",
        };
        if fold.first.is_empty() {
            fold.first = meaning;
        } else {
            fold.others.push_str(meaning);
        }
    }

    fn unclosed(&self, start: Mark, found: &str) -> Box<YamlError> {
        self.error(format!("expected a closing quote, found {found}"))
            .within(start, "the quote opens here")
            .help(Some(hints::UNCLOSED_QUOTE))
    }

    /// The character after a backslash.
    fn scan_escape(&mut self, start: Mark) -> YamlResult<char> {
        let digits = match self.cursor.byte(1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            byte => {
                let Some(c) = escaped(byte) else {
                    let message = "a backslash with a character that makes no escape";
                    let error = self.error(message).within(start, "the quoted text");
                    return Err(error.help(Some(
                        "double the backslash, or use single quotes, if it is part of the text",
                    )));
                };
                self.cursor.skip(2);
                return Ok(c);
            }
        };
        self.cursor.skip(2);
        let mut number: u32 = 0;
        for ahead in 0..digits {
            let Some(digit) = (self.cursor.byte(ahead) as char).to_digit(16) else {
                let message = format!("expected {digits} hexadecimal digits in the escape");
                return Err(self.error(message).within(start, "the quoted text"));
            };
            number = number.wrapping_mul(16).wrapping_add(digit);
        }
        let Some(c) = char::from_u32(number) else {
            let message = format!("U+{number:04X} is no character");
            return Err(self.error(message).within(start, "the quoted text"));
        };
        self.cursor.skip(digits);
        Ok(c)
    }
}

impl Fold {
    /// One break becomes a space, several lose the first; a Unicode separator is always kept.
    fn join(&self, value: &mut String) {
        if self.first != "\n" {
            value.push_str(self.first);
        } else if self.others.is_empty() {
            value.push(' ');
        }
        value.push_str(&self.others);
    }
}

fn escaped(byte: u8) -> Option<char> {
    Some(match byte {
        b'0' => '\0',
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\u{b}',
        b'f' => '\u{c}',
        b'r' => '\r',
        b'e' => '\u{1b}',
        b' ' => ' ',
        b'"' => '"',
        b'/' => '/',
        b'\\' => '\\',
        b'N' => '\u{85}',
        b'_' => '\u{a0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}
