//! A cursor over a pattern, with Python's way of saying where something is wrong.

/// Where a pattern is being read.
pub(super) struct Cursor {
    chars: Vec<char>,
    pub(super) at: usize,
}

impl Cursor {
    pub(super) fn new(pattern: &str) -> Cursor {
        Cursor { chars: pattern.chars().collect(), at: 0 }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Takes a character if it is the next one.
    pub(super) fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    /// Takes up to `most` characters that fit.
    pub(super) fn take_while(&mut self, most: usize, fits: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while taken.chars().count() < most && self.peek().is_some_and(&fits) {
            taken.extend(self.next());
        }
        taken
    }

    /// Takes everything before a character and the character; nothing if it is missing.
    pub(super) fn take_until(&mut self, end: char) -> Option<String> {
        let length = self.chars.get(self.at..)?.iter().position(|c| *c == end)?;
        let taken = self.chars.get(self.at..self.at + length)?.iter().collect();
        self.at += length + 1;
        Some(taken)
    }

    /// A message with its position, in Python's form.
    pub(super) fn error(&self, message: &str, at: usize) -> String {
        let newline = |c: &&char| **c == '\n';
        let before = self.chars.get(..at).unwrap_or(&self.chars);
        if !self.chars.contains(&'\n') {
            return format!("{message} at position {at}");
        }
        let line = before.iter().filter(newline).count() + 1;
        let column = before.iter().rev().take_while(|c| !newline(c)).count() + 1;
        format!("{message} at position {at} (line {line}, column {column})")
    }

    /// The characters of a range.
    pub(super) fn text(&self, start: usize, end: usize) -> String {
        self.chars.get(start..end).unwrap_or_default().iter().collect()
    }

    /// The message about an escape that begins at `start`.
    pub(super) fn bad_escape(&self, start: usize) -> String {
        let escape = self.text(start, self.at);
        self.error(&format!("bad escape {escape}"), start)
    }

    /// Reads the hexadecimal digits of an escape that begins at `start`.
    pub(super) fn code(&mut self, start: usize, digits: usize) -> Result<char, String> {
        let hex = self.take_while(digits, |c| c.is_ascii_hexdigit());
        if hex.len() < digits {
            let escape = self.text(start, self.at);
            return Err(self.error(&format!("incomplete escape {escape}"), start));
        }
        let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
        code.ok_or_else(|| self.bad_escape(start))
    }
}

/// A literal character as the engine wants it.
pub(super) fn literal(out: &mut String, c: char) {
    // Other signs must stay bare: some mean something with a backslash only.
    if r"\.+*?()|[]{}^$#&-~".contains(c) {
        out.push('\\');
        out.push(c);
    } else if c.is_whitespace() || c.is_control() {
        out.push_str(&format!("\\x{{{:x}}}", c as u32));
    } else {
        out.push(c);
    }
}

/// The class an escape stands for, in a form that can appear inside brackets.
pub(super) fn class(letter: char, ascii: bool) -> Option<&'static str> {
    Some(match (letter, ascii) {
        ('d', false) => r"\d",
        ('D', false) => r"\D",
        ('w', false) => r"\p{L}\p{N}_",
        ('W', false) => r"[^\p{L}\p{N}_]",
        ('s', false) => r"\s\x1c-\x1f",
        ('S', false) => r"[^\s\x1c-\x1f]",
        ('d', true) => "0-9",
        ('D', true) => "[^0-9]",
        ('w', true) => "a-zA-Z0-9_",
        ('W', true) => "[^a-zA-Z0-9_]",
        ('s', true) => r" \t\n\r\f\v",
        ('S', true) => r"[^ \t\n\r\f\v]",
        _ => return None,
    })
}
