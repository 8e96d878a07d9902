//! The language of checks: `role:member and project_id:%(project_id)s`.
//!
//! Words are parted by blanks; parentheses may touch them; `and` binds tighter than `or`, `not` tighter than
//! both. What cannot be read is refused with its place, never taken for "no".

use super::lexer::{Token, Word, words};
use super::pattern::Pattern;
use std::fmt;

/// Parentheses and `not`s may be nested so deep.
const MAX_DEPTH: usize = 64;

/// The check of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// A check that always holds: `@`, or no text at all.
    Always,
    /// A check that never holds: `!`.
    Never,
    /// A role, in whatever case: `role:member`.
    Role(Pattern),
    /// Another rule: `rule:project_admin`.
    Rule(Box<str>),
    /// An attribute of the caller has a value: `project_id:%(project_id)s`.
    Attribute(Box<str>, Pattern),
    /// A constant equals an attribute of the target: `'public':%(visibility)s`.
    Constant(Box<str>, Pattern),
    /// The check does not hold.
    Not(Box<Check>),
    /// All of the checks hold.
    All(Vec<Check>),
    /// At least one of the checks holds.
    Any(Vec<Check>),
}

/// Why a check cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The position in the text, in bytes.
    pub at: usize,
    /// The message.
    pub message: String,
    /// The correction to make.
    pub help: &'static str,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.help)
    }
}

impl Check {
    /// Reads a check.
    pub fn parse(text: &str) -> Result<Check, Mistake> {
        if text.trim().is_empty() {
            return match text {
                "" => Ok(Check::Always),
                _ => Err(Mistake { at: 0, message: "only blanks".into(), help: ALLOW_ALL }),
            };
        }
        let mut parser = Parser { words: words(text), next: 0, end: text.len() };
        let check = parser.any(0)?;
        match parser.words.get(parser.next) {
            None => Ok(check),
            Some(Word { at, token: Token::Close }) => Err(Mistake {
                at: *at,
                message: "this `)` has no `(`".into(),
                help: "remove it, or open a parenthesis before it",
            }),
            Some(word) => Err(Mistake {
                at: word.at,
                message: format!("{} follows a whole check", word.token),
                help: "put `and` or `or` between two checks",
            }),
        }
    }

    /// Reads one check without `and`, `or`, `not` or parentheses: a member of the older form, lists of lists.
    pub fn parse_single(text: &str) -> Result<Check, Mistake> {
        single(text, 0)
    }

    /// All of them, without a list around a single one.
    pub fn all(mut checks: Vec<Check>) -> Check {
        if checks.len() == 1 { checks.swap_remove(0) } else { Check::All(checks) }
    }

    /// A check that one of several holds, without a list around a single one.
    pub fn any(mut checks: Vec<Check>) -> Check {
        if checks.len() == 1 { checks.swap_remove(0) } else { Check::Any(checks) }
    }

    /// Calls a function with every check that has no checks in it.
    pub fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Check)) {
        match self {
            Check::Not(check) => check.visit(see),
            Check::All(checks) | Check::Any(checks) => {
                checks.iter().for_each(|check| check.visit(see));
            }
            leaf => see(leaf),
        }
    }
}

/// The check that always holds.
const ALLOW_ALL: &str = "write `@` to allow everybody, `!` to allow nobody";

struct Parser<'a> {
    words: Vec<Word<'a>>,
    next: usize,
    end: usize,
}

impl<'a> Parser<'a> {
    fn any(&mut self, depth: usize) -> Result<Check, Mistake> {
        let mut checks = vec![self.all(depth)?];
        while self.take(&Token::Or) {
            checks.push(self.all(depth)?);
        }
        Ok(Check::any(checks))
    }

    fn all(&mut self, depth: usize) -> Result<Check, Mistake> {
        let mut checks = vec![self.one(depth)?];
        while self.take(&Token::And) {
            checks.push(self.one(depth)?);
        }
        Ok(Check::all(checks))
    }

    fn one(&mut self, depth: usize) -> Result<Check, Mistake> {
        let Some(Word { at, token }) = self.words.get(self.next).copied() else {
            let message = "a check is missing at the end".into();
            return Err(Mistake { at: self.end, message, help: WHAT_A_CHECK_IS });
        };
        if depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} parentheses and `not`s in each other");
            return Err(Mistake { at, message, help: "move a part of it to a rule of its own" });
        }
        self.next += 1;
        match token {
            Token::Check(text) => single(text, at),
            Token::Not => Ok(Check::Not(Box::new(self.one(depth + 1)?))),
            Token::Open => {
                let check = self.any(depth + 1)?;
                if !self.take(&Token::Close) {
                    let message = "this `(` is not closed".into();
                    return Err(Mistake { at, message, help: "add the `)` that is missing" });
                }
                Ok(check)
            }
            Token::Close | Token::And | Token::Or => Err(Mistake {
                at,
                message: format!("a check is missing before {token}"),
                help: WHAT_A_CHECK_IS,
            }),
        }
    }

    fn take(&mut self, token: &Token<'a>) -> bool {
        let found = self.words.get(self.next).is_some_and(|word| &word.token == token);
        self.next += usize::from(found);
        found
    }
}

const WHAT_A_CHECK_IS: &str =
    "a check is `@`, `!`, or two words with a colon, such as `role:member` or `rule:project_admin`";

/// Reads `kind:match`, which begins at `at`.
fn single(text: &str, at: usize) -> Result<Check, Mistake> {
    match text {
        "@" => return Ok(Check::Always),
        "!" => return Ok(Check::Never),
        _ => {}
    }
    let quoted = |quote| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
    if quoted('\'') || quoted('"') {
        let message = format!("{text} is a text in quotes, not a check");
        let help = "write the constant before the colon and the target's field behind it, such as \
                    `'public':%(visibility)s`";
        return Err(Mistake { at, message, help });
    }
    let Some((kind, matched)) = text.split_once(':') else {
        let message = format!("`{text}` has no colon");
        return Err(Mistake { at, message, help: WHAT_A_CHECK_IS });
    };
    let pattern = || Pattern::parse(matched, at + kind.len() + 1);
    match kind {
        "" => {
            let message = format!("nothing stands before the colon of `{text}`");
            Err(Mistake { at, message, help: WHAT_A_CHECK_IS })
        }
        "rule" if matched.is_empty() => {
            let message = "the name of a rule is missing".into();
            Err(Mistake { at: at + 5, message, help: "write it behind the colon" })
        }
        "rule" => Ok(Check::Rule(matched.into())),
        "role" => Ok(Check::Role(pattern()?)),
        "http" | "https" => {
            let message = format!("`{kind}:` asks another server, which is not supported");
            Err(Mistake { at, message, help: "say it with roles and attributes" })
        }
        _ => match constant(kind, at)? {
            Some(constant) => Ok(Check::Constant(constant, pattern()?)),
            None => Ok(Check::Attribute(kind.into(), pattern()?)),
        },
    }
}

/// The text of a constant: words of Python, integers, text in quotes. Nothing if it is a name.
fn constant(text: &str, at: usize) -> Result<Option<Box<str>>, Mistake> {
    if matches!(text, "True" | "False" | "None") {
        return Ok(Some(text.into()));
    }
    let refuse = |message: &str| {
        let help = "constants are text in quotes, integers, `True`, `False` and `None`";
        Err(Mistake { at, message: format!("`{text}` {message}"), help })
    };
    match text.as_bytes() {
        [quote @ (b'\'' | b'"'), inside @ .., end] if quote == end => {
            let plain = !inside.contains(quote) && !inside.contains(&b'\\');
            match text.get(1..text.len() - 1) {
                Some(inside) if plain => Ok(Some(inside.into())),
                _ => refuse("has quotes or backslashes inside"),
            }
        }
        [b'\'' | b'"', ..] => refuse("has no closing quote before the colon"),
        [b'0'..=b'9' | b'-' | b'+' | b'.', ..] => match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => Ok(Some(text.into())),
            _ => refuse("is not a plain integer"),
        },
        [b'[' | b'{' | b'(', ..] => refuse("is a list or a map"),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match Check::parse(text) {
            Ok(check) => show(&check),
            Err(mistake) => format!("{}: {}", mistake.at, mistake.message),
        }
    }

    /// A check with all its parentheses.
    fn show(check: &Check) -> String {
        let list = |checks: &[Check], word: &str| {
            let shown: Vec<_> = checks.iter().map(show).collect();
            format!("({})", shown.join(word))
        };
        match check {
            Check::Always => "@".into(),
            Check::Never => "!".into(),
            Check::Role(role) => format!("role:{role}"),
            Check::Rule(name) => format!("rule:{name}"),
            Check::Attribute(name, value) => format!("{name}:{value}"),
            Check::Constant(text, value) => format!("'{text}':{value}"),
            Check::Not(check) => format!("not {}", show(check)),
            Check::All(checks) => list(checks, " and "),
            Check::Any(checks) => list(checks, " or "),
        }
    }

    #[test]
    fn and_binds_tighter_than_or_and_not_tighter_than_both() {
        assert_eq!(read("role:a or role:b and role:c"), "(role:a or (role:b and role:c))");
        assert_eq!(read("role:a and role:b or role:c"), "((role:a and role:b) or role:c)");
        assert_eq!(read("(role:a or role:b) and role:c"), "((role:a or role:b) and role:c)");
        assert_eq!(read("not role:a and role:b"), "(not role:a and role:b)");
        assert_eq!(read("not (role:a and role:b)"), "not (role:a and role:b)");
        assert_eq!(read("NOT not role:a OR role:b"), "(not not role:a or role:b)");
        assert_eq!(read("((role:a))"), "role:a");
    }

    #[test]
    fn every_kind_of_check_is_read() {
        assert_eq!(read(""), "@");
        assert_eq!(read("@"), "@");
        assert_eq!(read("!"), "!");
        assert_eq!(read("rule:stacks:index"), "rule:stacks:index");
        assert_eq!(
            read("(role:reader and project_id:%(project_id)s)"),
            "(role:reader and project_id:%(project_id)s)"
        );
        assert_eq!(read("'x':%(y)s"), "'x':%(y)s");
        assert_eq!(read("True:%(z)s"), "'True':%(z)s");
        assert_eq!(read("-5:%(z)s"), "'-5':%(z)s");
        assert_eq!(read("is_admin_project:True"), "is_admin_project:True");
        assert_eq!(read("role:100%%"), "role:100%%");
    }

    #[test]
    fn mistakes_say_where_they_are() {
        assert_eq!(read("  "), "0: only blanks");
        assert_eq!(read("role:a or"), "9: a check is missing at the end");
        assert_eq!(read("role:a role:b"), "7: `role:b` follows a whole check");
        assert_eq!(read("role:a and (role:b"), "11: this `(` is not closed");
        assert_eq!(read("role:a)"), "6: this `)` has no `(`");
        assert_eq!(read("()"), "1: a check is missing before `)`");
        assert_eq!(read("role:a and and"), "11: a check is missing before `and`");
        assert_eq!(read("role:a and admin"), "11: `admin` has no colon");
        assert_eq!(read("'a':'b'"), "0: 'a':'b' is a text in quotes, not a check");
        assert_eq!(read("'a:%(b)s"), "0: `'a` has no closing quote before the colon");
        assert_eq!(read("007:%(b)s"), "0: `007` is not a plain integer");
        assert_eq!(read("role:%(a)d"), "5: `%(a)d` is no field of the target");
        assert_eq!(
            read("http://h/%(a)s"),
            "0: `http:` asks another server, which is not supported"
        );
        assert_eq!(read("rule:"), "5: the name of a rule is missing");
        assert_eq!(read(":a"), "0: nothing stands before the colon of `:a`");
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |n: usize| format!("{}role:a{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(read(&nested(MAX_DEPTH)), "role:a");
        assert!(read(&nested(100_000)).contains("more than 64 parentheses"));
        assert!(read(&format!("{}role:a", "not ".repeat(100_000))).contains("more than 64"));
        let long = vec!["role:a"; 10_000].join(" or ");
        assert!(matches!(Check::parse(&long), Ok(Check::Any(checks)) if checks.len() == 10_000));
    }
}
