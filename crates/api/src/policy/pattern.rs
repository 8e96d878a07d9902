//! The right side of a check: a text with fields of the target in it, such as `%(project_id)s`.

use super::language::Mistake;
use super::target::Target;
use std::borrow::Cow;
use std::fmt;

/// A text with fields of the target in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Field(Box<str>),
}

impl Pattern {
    /// Reads a pattern that begins at a byte of the check: `%(name)s` is a field, `%%` a percent sign.
    pub(super) fn parse(text: &str, at: usize) -> Result<Pattern, Mistake> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(percent) = rest.find('%') {
            plain.push_str(&rest[..percent]);
            rest = &rest[percent..];
            if let Some(behind) = rest.strip_prefix("%%") {
                plain.push('%');
                rest = behind;
                continue;
            }
            let field = rest.strip_prefix("%(").and_then(|rest| rest.split_once(")s"));
            let Some((name, behind)) = field.filter(|(name, _)| is_name(name)) else {
                let message = format!("`{rest}` is no field of the target");
                let help = "write `%(name)s` for a field, `%%` for a percent sign";
                return Err(Mistake { at: at + text.len() - rest.len(), message, help });
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain).into()));
            }
            parts.push(Part::Field(name.into()));
            rest = behind;
        }
        plain.push_str(rest);
        if !plain.is_empty() || parts.is_empty() {
            parts.push(Part::Text(plain.into()));
        }
        Ok(Pattern(parts))
    }

    /// The text for a target; nothing if it lacks a field. Copies nothing if there is a single part.
    pub(super) fn fill<'a>(&'a self, target: &Target<'a>) -> Option<Cow<'a, str>> {
        let text = |part: &'a Part| match part {
            Part::Text(text) => Some(&**text),
            Part::Field(name) => target.field(name),
        };
        match self.0.as_slice() {
            [part] => text(part).map(Cow::Borrowed),
            parts => parts.iter().map(text).collect::<Option<String>>().map(Cow::Owned),
        }
    }

    /// The text, if there are no fields in it.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-'))
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(&text.replace('%', "%%")),
            Part::Field(name) => write!(f, "%({name})s"),
        })
    }
}
