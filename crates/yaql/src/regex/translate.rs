//! From Python's pattern language to that of `fancy_regex`.
//!
//! The two agree on most constructs, but every one is read and written anew: what Python rejects is
//! rejected with its words, what it takes literally is escaped, and verbose mode, flags and classes
//! are resolved here. Groups may be nested only so deep.

use super::Flags;
use super::parse::{Cursor, class, literal};
use super::set;
use std::sync::Arc;

/// The largest number of repetitions.
const MAX_REPEAT: u64 = u32::MAX as u64;

/// A translated pattern.
pub(super) struct Translated {
    pub(super) pattern: String,
    pub(super) names: Vec<(Arc<str>, usize)>,
    pub(super) ascii: bool,
}

/// Translates a pattern.
pub(super) fn translate(pattern: &str, flags: Flags) -> Result<Translated, String> {
    let mut translator = Translator {
        cursor: Cursor::new(pattern),
        out: String::new(),
        groups: 0,
        open: Vec::new(),
        asked: Vec::new(),
        names: Vec::new(),
        mode: Mode {
            ignore_case: flags.ignore_case,
            multi_line: flags.multi_line,
            dot_all: flags.dot_all,
            ..Mode::default()
        },
        depth: 0,
    };
    translator.global_flags()?;
    let mode = translator.mode;
    translator.alternatives()?;
    if translator.cursor.peek().is_some() {
        let at = translator.cursor.at;
        return Err(translator.cursor.error("unbalanced parenthesis", at));
    }
    let missing = translator.asked.iter().find(|(number, _)| *number > translator.groups);
    if let Some((number, at)) = missing {
        return Err(translator.cursor.error(&format!("invalid group reference {number}"), *at));
    }
    let mut prefix = String::new();
    for (set, letter) in [(mode.ignore_case, 'i'), (mode.multi_line, 'm'), (mode.dot_all, 's')] {
        if set {
            prefix.push(letter);
        }
    }
    let pattern =
        if prefix.is_empty() { translator.out } else { format!("(?{prefix}:{})", translator.out) };
    Ok(Translated { pattern, names: translator.names, ascii: mode.ascii })
}

/// What the flags in force say.
#[derive(Clone, Copy, Default)]
pub(super) struct Mode {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
    ascii: bool,
}

impl Mode {
    pub(super) fn set(&mut self, letter: char, on: bool) -> bool {
        match letter {
            'i' => self.ignore_case = on,
            'm' => self.multi_line = on,
            's' => self.dot_all = on,
            'x' => self.verbose = on,
            'a' => self.ascii = on,
            'u' if on => self.ascii = false,
            _ => return false,
        }
        true
    }
}

pub(super) struct Translator {
    pub(super) cursor: Cursor,
    pub(super) out: String,
    pub(super) groups: usize,
    /// Groups whose end is not read yet.
    pub(super) open: Vec<usize>,
    /// Groups that conditions ask for, which may come later, and where.
    pub(super) asked: Vec<(usize, usize)>,
    pub(super) names: Vec<(Arc<str>, usize)>,
    pub(super) mode: Mode,
    pub(super) depth: usize,
}

/// Whether something can be repeated.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RegexItem {
    Nothing,
    Plain,
    /// Look-around, which takes no characters.
    Look,
    Anchor,
    Repeated,
}

impl Translator {
    /// Reads flags for the whole pattern, which can appear only at its start.
    fn global_flags(&mut self) -> Result<(), String> {
        loop {
            let start = self.cursor.at;
            let letters = match (self.cursor.next(), self.cursor.next()) {
                // A comment before the flags does no harm.
                (Some('('), Some('?')) if self.cursor.take('#') => {
                    match self.cursor.take_until(')') {
                        Some(_) => continue,
                        None => String::new(),
                    }
                }
                (Some('('), Some('?')) => self.cursor.take_while(20, |c| "aimsuxL".contains(c)),
                _ => String::new(),
            };
            if letters.is_empty() || !self.cursor.take(')') {
                self.cursor.at = start;
                return Ok(());
            }
            for letter in letters.chars() {
                if !self.mode.set(letter, true) {
                    let message = "bad inline flags: cannot use 'L' flag with a str pattern";
                    return Err(self.cursor.error(message, start + 2 + letters.len()));
                }
            }
        }
    }

    pub(super) fn alternatives(&mut self) -> Result<(), String> {
        loop {
            self.sequence()?;
            if !self.cursor.take('|') {
                return Ok(());
            }
            self.out.push('|');
        }
    }

    pub(super) fn sequence(&mut self) -> Result<(), String> {
        let mut last = RegexItem::Nothing;
        let mut start = self.out.len();
        while let Some(c) = self.cursor.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            let at = self.cursor.at;
            self.cursor.at += 1;
            if self.mode.verbose && self.skipped(c) {
                continue;
            }
            if let Some((least, most)) = self.repetition(c, at)? {
                last = self.repeat(last, start, at, least, most)?;
                continue;
            }
            let begin = self.out.len();
            last = match self.item(c, at)? {
                // A comment leaves the item before it to be repeated.
                None => continue,
                Some(item) => item,
            };
            start = begin;
        }
        Ok(())
    }

    /// Passes over blanks and comments in verbose mode.
    fn skipped(&mut self, c: char) -> bool {
        if c == '#' {
            while self.cursor.next().is_some_and(|c| c != '\n') {}
        }
        matches!(c, '#' | ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
    }

    /// Reads a repetition that begins with `c`, if it is one.
    fn repetition(&mut self, c: char, at: usize) -> Result<Option<(u64, Option<u64>)>, String> {
        Ok(Some(match c {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            '{' => {
                let begin = self.cursor.at;
                if self.cursor.peek() == Some('}') {
                    return Ok(None);
                }
                let digits = |c: char| c.is_ascii_digit();
                let least = self.cursor.take_while(20, digits);
                let comma = self.cursor.take(',');
                let most = if comma { self.cursor.take_while(20, digits) } else { least.clone() };
                if !self.cursor.take('}') {
                    self.cursor.at = begin;
                    return Ok(None);
                }
                let number = |text: &str| text.parse().unwrap_or(u64::MAX);
                let low = if least.is_empty() { 0 } else { number(&least) };
                let high = (!most.is_empty()).then(|| number(&most));
                if low >= MAX_REPEAT || high.is_some_and(|high| high >= MAX_REPEAT) {
                    return Err("the repetition number is too large".into());
                }
                if high.is_some_and(|high| high < low) {
                    return Err(self.cursor.error("min repeat greater than max repeat", at + 1));
                }
                (low, high)
            }
            _ => return Ok(None),
        }))
    }

    /// Repeats what was written from `start` on.
    fn repeat(
        &mut self,
        last: RegexItem,
        start: usize,
        at: usize,
        least: u64,
        most: Option<u64>,
    ) -> Result<RegexItem, String> {
        match last {
            RegexItem::Nothing | RegexItem::Anchor => {
                return Err(self.cursor.error("nothing to repeat", at));
            }
            RegexItem::Repeated => return Err(self.cursor.error("multiple repeat", at)),
            RegexItem::Plain | RegexItem::Look => {}
        }
        let repeated = self.out.split_off(start);
        if last == RegexItem::Look {
            // The engine does not repeat these, and more than once makes no difference.
            let once = if least > 0 { repeated } else { format!("(?:{repeated}|)") };
            self.out.push_str(&once);
            let _ = self.cursor.take('?') || self.cursor.take('+');
            return Ok(RegexItem::Repeated);
        }
        let count = match (least, most) {
            (0, None) => "*".into(),
            (1, None) => "+".into(),
            (0, Some(1)) => "?".into(),
            (least, None) => format!("{{{least},}}"),
            (least, Some(most)) => format!("{{{least},{most}}}"),
        };
        let body = format!("(?:{repeated}){count}");
        if self.cursor.take('?') {
            self.out.push_str(&body);
            self.out.push('?');
        } else if self.cursor.take('+') {
            self.out.push_str(&format!("(?>{body})"));
        } else {
            self.out.push_str(&body);
        }
        Ok(RegexItem::Repeated)
    }

    fn item(&mut self, c: char, at: usize) -> Result<Option<RegexItem>, String> {
        match c {
            '.' => self.out.push('.'),
            '^' => {
                self.out.push('^');
                return Ok(Some(RegexItem::Anchor));
            }
            '$' => {
                // Without line mode it matches before a last newline too.
                self.out.push_str(if self.mode.multi_line { "$" } else { r"(?=\n?\z)" });
                return Ok(Some(RegexItem::Anchor));
            }
            '[' => set::translate(&mut self.cursor, at, self.mode.ascii, &mut self.out)?,
            '(' => return self.group(at),
            '\\' => return self.escape(at).map(Some),
            c => literal(&mut self.out, c),
        }
        Ok(Some(RegexItem::Plain))
    }

    fn escape(&mut self, start: usize) -> Result<RegexItem, String> {
        let Some(c) = self.cursor.next() else {
            return Err(self.cursor.error("bad escape (end of pattern)", start));
        };
        let anchor = match (c, self.mode.ascii) {
            ('A', _) => Some(r"\A"),
            ('Z', _) => Some(r"\z"),
            ('b', false) => Some(r"\b"),
            // Nothing but an empty text has neither a boundary nor its absence.
            ('B', false) => Some(r"(?!\A\z)\B"),
            ('b', true) => {
                Some(r"(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))")
            }
            ('B', true) => Some(
                r"(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?!\A\z)(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))",
            ),
            _ => None,
        };
        if let Some(anchor) = anchor {
            self.out.push_str(anchor);
            return Ok(RegexItem::Anchor);
        }
        if let Some(class) = class(c, self.mode.ascii) {
            self.out.push('[');
            self.out.push_str(class);
            self.out.push(']');
            return Ok(RegexItem::Plain);
        }
        let character = match c {
            'a' => '\u{7}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.cursor.code(start, 2)?,
            'u' => self.cursor.code(start, 4)?,
            'U' => self.cursor.code(start, 8)?,
            '0' => {
                let digits = self.cursor.take_while(2, |c| c.is_digit(8));
                set::octal(&self.cursor, &format!("0{digits}"), start)?
            }
            '1'..='9' => return self.numbered(c, start),
            c if c.is_ascii_alphabetic() => return Err(self.cursor.bad_escape(start)),
            c => c,
        };
        literal(&mut self.out, character);
        Ok(RegexItem::Plain)
    }

    /// A reference to a group by number, or an octal escape of three digits.
    fn numbered(&mut self, first: char, start: usize) -> Result<RegexItem, String> {
        let mut digits = first.to_string();
        digits += &self.cursor.take_while(1, |c| c.is_ascii_digit());
        let octal = |digits: &str| digits.len() == 2 && digits.chars().all(|c| c.is_digit(8));
        if octal(&digits) && self.cursor.peek().is_some_and(|c| c.is_digit(8)) {
            digits.extend(self.cursor.next());
            let character = set::octal(&self.cursor, &digits, start)?;
            literal(&mut self.out, character);
            return Ok(RegexItem::Plain);
        }
        let number: usize = digits.parse().unwrap_or(usize::MAX);
        self.reference(number, start + 1, start)?;
        Ok(RegexItem::Plain)
    }

    /// Writes a reference to a group; the positions are for its two possible errors.
    pub(super) fn reference(
        &mut self,
        number: usize,
        at: usize,
        open_at: usize,
    ) -> Result<(), String> {
        if number > self.groups {
            return Err(self.cursor.error(&format!("invalid group reference {number}"), at));
        }
        if self.open.contains(&number) {
            return Err(self.cursor.error("cannot refer to an open group", open_at));
        }
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }
}
