//! Dotted paths such as `resources.web.properties.rules[0].port`.

use std::fmt;

/// A path into a template, built on the stack while walking it.
///
/// Printing follows Heat: an element that is a number, or text of digits alone, is written
/// in brackets.
#[derive(Clone, Copy, Debug)]
pub enum Path<'a> {
    /// The whole document; prints as nothing.
    Root,
    /// A member of a map.
    Key(&'a Path<'a>, &'a str),
    /// A member of a list.
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    /// The path of a map's member.
    pub fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    /// The path of a list's member.
    pub fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }

    /// The elements from the outermost to this one.
    pub fn elements(&self) -> Vec<Path<'a>> {
        let mut elements = Vec::new();
        let mut at = *self;
        loop {
            let parent = match at {
                Path::Root => break,
                Path::Key(parent, _) | Path::Index(parent, _) => parent,
            };
            elements.push(at);
            at = *parent;
        }
        elements.reverse();
        elements
    }

    /// Whether this is the whole document.
    pub fn is_root(&self) -> bool {
        matches!(self, Path::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Path::Key(parent, key) if is_number(key) => write!(f, "{parent}[{key}]"),
            Path::Key(Path::Root, key) => f.write_str(key),
            Path::Key(parent, key) => write!(f, "{parent}.{key}"),
        }
    }
}

fn is_number(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_written_as_indexes() {
        let resources = Path::Root.key("resources");
        let (zero, web) = (resources.key("0"), resources.key("web"));
        assert_eq!(zero.key("properties").to_string(), "resources[0].properties");
        assert_eq!(web.index(2).key("a").to_string(), "resources.web[2].a");
        assert_eq!(Path::Root.to_string(), "");
    }
}
