//! Scanning of block scalars: literal (`|`) and folded (`>`).

use super::cursor::Mark;
use super::error::{YamlResult, hints};
use super::event::Style;
use super::scanner::{Scalar, Scanner};

const WHAT: &str = "the block of text";

/// What happens to the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// One is kept.
    Clip,
    /// All are kept.
    Keep,
    /// None is kept.
    Strip,
}

impl Scanner<'_> {
    pub(super) fn scan_block_scalar(&mut self, style: Style) -> YamlResult<Scalar> {
        let start = self.cursor.mark();
        let (chomping, increment) = self.scan_block_header(start)?;
        let mut indent = increment.map_or(0, |by| self.indent.max(0) + i64::from(by));
        let mut value = String::new();
        let mut end = self.cursor.mark();
        let mut break_behind = "";
        let mut empty_lines = String::new();
        let mut last_is_blank = false;
        self.cursor.take_break();
        self.scan_indentation(&mut indent, &mut empty_lines, start)?;
        while i64::from(self.cursor.column()) == indent && self.cursor.byte(0) != 0 {
            let is_blank = self.cursor.is_blank();
            let folds = style == Style::Folded && !last_is_blank && !is_blank;
            if !folds || break_behind != "\n" {
                value.push_str(break_behind);
            } else if empty_lines.is_empty() {
                value.push(' ');
            }
            value.push_str(&empty_lines);
            empty_lines.clear();
            last_is_blank = is_blank;
            let from = self.cursor.at();
            self.cursor.skip_to_line_end();
            value.push_str(self.cursor.slice(from, self.cursor.at()));
            end = self.cursor.mark();
            break_behind = self.cursor.take_break();
            self.scan_indentation(&mut indent, &mut empty_lines, start)?;
        }
        if chomping != Chomping::Strip {
            value.push_str(break_behind);
        }
        if chomping == Chomping::Keep {
            value.push_str(&empty_lines);
        }
        let built = self.keep(value);
        Ok(Scalar { style, built, start, end })
    }

    /// The indicators after `|` or `>`, up to the end of the line.
    fn scan_block_header(&mut self, start: Mark) -> YamlResult<(Chomping, Option<u8>)> {
        self.cursor.skip(1);
        let mut chomping = None;
        let mut increment = None;
        loop {
            match self.cursor.byte(0) {
                b'+' if chomping.is_none() => chomping = Some(Chomping::Keep),
                b'-' if chomping.is_none() => chomping = Some(Chomping::Strip),
                b'0' if increment.is_none() => {
                    let message = "expected an indentation of 1 to 9, found 0";
                    return Err(self.error(message).within(start, WHAT));
                }
                digit @ b'1'..=b'9' if increment.is_none() => increment = Some(digit - b'0'),
                _ => break,
            }
            self.cursor.skip(1);
        }
        self.cursor.skip_blanks();
        if self.cursor.byte(0) == b'#' {
            self.cursor.skip_to_line_end();
        }
        if !self.cursor.is_line_end(0) {
            let message = format!("expected a comment or a line break, found {}", self.found());
            let error = self.error(message).within(start, WHAT);
            return Err(error.help(Some("begin the text on the next line, indented")));
        }
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    /// Steps over empty lines and the indentation of the next line; finds out the indentation from
    /// them if it is not known yet (zero).
    fn scan_indentation(
        &mut self,
        indent: &mut i64,
        empty_lines: &mut String,
        start: Mark,
    ) -> YamlResult<()> {
        let mut deepest = 0;
        loop {
            let inside = |column: u32| *indent == 0 || i64::from(column) < *indent;
            while inside(self.cursor.column()) && self.cursor.byte(0) == b' ' {
                self.cursor.skip(1);
            }
            deepest = deepest.max(self.cursor.column());
            if inside(self.cursor.column()) && self.cursor.byte(0) == b'\t' {
                let message = "expected spaces for indentation, found a tab";
                return Err(self.error(message).within(start, WHAT).help(Some(hints::TABS)));
            }
            if self.cursor.line_break(0) == 0 {
                break;
            }
            empty_lines.push_str(self.cursor.take_break());
        }
        if *indent == 0 {
            *indent = i64::from(deepest).max(self.indent + 1).max(1);
        }
        Ok(())
    }
}
