//! Groups of a pattern: captures, look-around, conditions, flags for a part.

use super::translate::{RegexItem, Translator};
use std::sync::Arc;

/// How deep groups may be nested.
const MAX_DEPTH: usize = 100;

impl Translator {
    /// Translates a group; the cursor is after its parenthesis, which is at `start`.
    pub(super) fn group(&mut self, start: usize) -> Result<Option<RegexItem>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("too many nested groups".into());
        }
        let mode = self.mode;
        let item = if self.cursor.take('?') {
            self.extension(start)?
        } else {
            self.capture(start, None)?;
            Some(RegexItem::Plain)
        };
        self.mode = mode;
        self.depth -= 1;
        Ok(item)
    }

    fn capture(&mut self, start: usize, name: Option<Arc<str>>) -> Result<(), String> {
        self.groups += 1;
        let number = self.groups;
        if let Some(name) = name {
            self.names.push((name, number));
        }
        // Names are kept apart, so that references by number and by name can be mixed.
        self.out.push('(');
        self.open.push(number);
        self.rest_of_group(start)?;
        self.open.pop();
        Ok(())
    }

    fn rest_of_group(&mut self, start: usize) -> Result<(), String> {
        self.alternatives()?;
        if !self.cursor.take(')') {
            return Err(self.cursor.error("missing ), unterminated subpattern", start));
        }
        self.out.push(')');
        Ok(())
    }

    /// Translates what begins with `(?`.
    fn extension(&mut self, start: usize) -> Result<Option<RegexItem>, String> {
        let Some(c) = self.cursor.next() else {
            return Err(self.cursor.error("unexpected end of pattern", start + 2));
        };
        let opening = match c {
            'P' => return self.named(start).map(Some),
            '#' => {
                return match self.cursor.take_until(')') {
                    Some(_) => Ok(None),
                    None => Err(self.cursor.error("missing ), unterminated comment", start)),
                };
            }
            '(' => return self.conditional(start).map(Some),
            ':' => "(?:",
            '=' => "(?=",
            '!' => "(?!",
            '>' => "(?>",
            '<' => match self.cursor.next() {
                Some('=') => "(?<=",
                Some('!') => "(?<!",
                Some(c) => {
                    return Err(self.cursor.error(&format!("unknown extension ?<{c}"), start + 1));
                }
                None => return Err(self.cursor.error("unexpected end of pattern", start + 3)),
            },
            c if "aimsuxL-".contains(c) => return self.scoped_flags(c, start).map(Some),
            c => return Err(self.cursor.error(&format!("unknown extension ?{c}"), start + 1)),
        };
        self.out.push_str(opening);
        self.rest_of_group(start)?;
        let look = matches!(opening, "(?=" | "(?!" | "(?<=" | "(?<!");
        Ok(Some(if look { RegexItem::Look } else { RegexItem::Plain }))
    }

    fn named(&mut self, start: usize) -> Result<RegexItem, String> {
        match self.cursor.next() {
            Some('<') => {
                let at = self.cursor.at;
                let name = self.name('>')?;
                if let Some((_, number)) = self.names.iter().find(|(known, _)| **known == *name) {
                    let message = format!(
                        "redefinition of group name {} as group {}; was group {number}",
                        crate::python::quoted(&name),
                        self.groups + 1
                    );
                    return Err(self.cursor.error(&message, at));
                }
                self.capture(start, Some(name.into()))?;
            }
            Some('=') => {
                let at = self.cursor.at;
                let name = self.name(')')?;
                let number = self.number(&name, at)?;
                self.reference(number, at, at)?;
            }
            Some(c) => {
                return Err(self.cursor.error(&format!("unknown extension ?P{c}"), start + 1));
            }
            None => return Err(self.cursor.error("unexpected end of pattern", start + 3)),
        }
        Ok(RegexItem::Plain)
    }

    fn number(&self, name: &str, at: usize) -> Result<usize, String> {
        match self.names.iter().find(|(known, _)| **known == *name) {
            Some((_, number)) => Ok(*number),
            None => {
                let message = format!("unknown group name {}", crate::python::quoted(name));
                Err(self.cursor.error(&message, at))
            }
        }
    }

    fn name(&mut self, end: char) -> Result<String, String> {
        let at = self.cursor.at;
        let Some(name) = self.cursor.take_until(end) else {
            let message = match self.cursor.peek() {
                None => "missing group name".into(),
                Some(_) => format!("missing {end}, unterminated name"),
            };
            return Err(self.cursor.error(&message, at));
        };
        if name.is_empty() {
            return Err(self.cursor.error("missing group name", at));
        }
        if !is_identifier(&name) {
            let message = format!("bad character in group name {}", crate::python::quoted(&name));
            return Err(self.cursor.error(&message, at));
        }
        Ok(name)
    }

    fn conditional(&mut self, start: usize) -> Result<RegexItem, String> {
        let at = self.cursor.at;
        let Some(name) = self.cursor.take_until(')') else {
            return Err(self.cursor.error("missing ), unterminated name", at));
        };
        let number = match name.parse::<usize>() {
            Ok(0) => return Err(self.cursor.error("bad group number", at)),
            Ok(number) => {
                self.asked.push((number, at));
                number
            }
            Err(_) if is_identifier(&name) => self.number(&name, at)?,
            Err(_) => {
                let message =
                    format!("bad character in group name {}", crate::python::quoted(&name));
                return Err(self.cursor.error(&message, at));
            }
        };
        self.out.push_str(&format!("(?({number})"));
        self.sequence()?;
        if self.cursor.take('|') {
            self.out.push('|');
            self.sequence()?;
            if self.cursor.peek() == Some('|') {
                let message = "conditional backref with more than two branches";
                return Err(self.cursor.error(message, self.cursor.at + 1));
            }
        }
        if !self.cursor.take(')') {
            return Err(self.cursor.error("missing ), unterminated subpattern", start));
        }
        self.out.push(')');
        Ok(RegexItem::Plain)
    }

    /// Translates `(?flags-flags:...)`; the first letter is read.
    fn scoped_flags(&mut self, first: char, start: usize) -> Result<RegexItem, String> {
        let mut on = first != '-';
        let mut letters = String::new();
        let mut next = Some(first);
        while let Some(c) = next.filter(|c| *c != ':') {
            match c {
                '-' if on || letters.is_empty() && first == '-' => {
                    on = false;
                    letters.push('-');
                }
                ')' if on => {
                    let message = "global flags not at the start of the expression";
                    return Err(self.cursor.error(message, start));
                }
                c if self.mode.set(c, on) => {
                    if "ims".contains(c) {
                        letters.push(c);
                    }
                }
                c => {
                    let message = if c.is_alphabetic() { "unknown flag" } else { "missing :" };
                    return Err(self.cursor.error(message, self.cursor.at - 1));
                }
            }
            next = self.cursor.next();
        }
        if next.is_none() {
            return Err(self.cursor.error("missing -, : or )", self.cursor.at));
        }
        let letters = letters.trim_end_matches('-');
        self.out.push_str(&format!("(?{letters}:"));
        self.rest_of_group(start)?;
        Ok(RegexItem::Plain)
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
