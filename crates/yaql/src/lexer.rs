//! Splits an expression into tokens with their spans.
//!
//! Every token carries the characters it covers, counted from 0; a token never covers white space.

use crate::error::{Error, ErrorKind, Span};
use crate::integer::Integer;
use std::sync::Arc;

/// A token and the characters it covers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spanned {
    pub(crate) token: Token,
    pub(crate) span: Span,
}

/// A lexical unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Integer(Integer),
    Float(f64),
    Text(Arc<str>),
    Keyword(Arc<str>),
    True,
    False,
    Null,
    /// A name directly followed by an opening parenthesis, both of them.
    Call(Arc<str>),
    /// The name after the dollar sign, perhaps empty.
    Variable(Arc<str>),
    /// Signs and word operators.
    Sign(&'static str),
}

impl Token {
    /// The token as error messages show it.
    pub(crate) fn printed(&self) -> String {
        match self {
            Token::Integer(number) => number.to_string(),
            Token::Float(number) => crate::python::float(*number),
            Token::Text(text) | Token::Keyword(text) | Token::Call(text) => text.to_string(),
            Token::True => "True".into(),
            Token::False => "False".into(),
            Token::Null => "None".into(),
            Token::Variable(name) => format!("${name}"),
            Token::Sign(sign) => (*sign).into(),
        }
    }
}

/// Splits the text into tokens, as far as that goes.
///
/// The error is the one that stopped it: the parser reports it only if it comes that far.
pub(crate) fn tokens(text: &str) -> (Vec<Spanned>, Option<Error>) {
    let mut lexer = Lexer { text, byte: 0, position: 0, tokens: Vec::new() };
    loop {
        match lexer.token() {
            Ok(true) => {}
            Ok(false) => return (lexer.tokens, None),
            Err(error) => return (lexer.tokens, Some(error)),
        }
    }
}

/// Signs, those that begin with another one before it.
const SIGNS: [&str; 24] = [
    "->", "?.", "=>", "=~", "!~", "!=", ">=", "<=", "=", ">", "<", "+", "-", "*", "/", ".", ",",
    "(", ")", "[", "]", "{", "}", "",
];

struct Lexer<'a> {
    text: &'a str,
    byte: usize,
    position: usize,
    tokens: Vec<Spanned>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.byte..).unwrap_or_default()
    }

    /// Moves past the next `bytes` bytes, which end at a character's end.
    fn advance(&mut self, bytes: usize) {
        self.position += self.rest().get(..bytes).map_or(0, |part| part.chars().count());
        self.byte += bytes;
    }

    fn push(&mut self, token: Token, bytes: usize) {
        let start = self.position;
        self.advance(bytes);
        self.tokens.push(Spanned { token, span: start..self.position });
    }

    /// Reads one token; false at the end.
    fn token(&mut self) -> Result<bool, Error> {
        let blanks =
            self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.advance(blanks);
        let Some(first) = self.rest().chars().next() else {
            return Ok(false);
        };
        if first == '$' {
            let name: Arc<str> = word(self.rest().get(1..).unwrap_or_default()).into();
            let bytes = 1 + name.len();
            self.push(Token::Variable(name), bytes);
        } else if is_digit(first) {
            self.number(first)?;
        } else if is_word(first) {
            self.name(first)?;
        } else if matches!(first, '\'' | '"' | '`') {
            self.quoted(first)?;
        } else {
            self.sign(first)?;
        }
        Ok(true)
    }

    fn illegal(&self, character: char) -> Error {
        Error::from(ErrorKind::Lexical { character, position: self.position })
            .at(&(self.position..self.position + 1))
    }

    fn number(&mut self, first: char) -> Result<(), Error> {
        // A number ends at the end of the word, so `1e3` and `0x10` are no numbers.
        let whole = digits(self.rest());
        let after = self.rest().get(whole.len()..).unwrap_or_default();
        if let Some(fraction) = after.strip_prefix('.').map(digits)
            && !fraction.is_empty()
            && !after.chars().nth(1 + fraction.chars().count()).is_some_and(is_word)
        {
            let bytes = whole.len() + 1 + fraction.len();
            let text = ascii(whole) + "." + &ascii(fraction);
            self.push(Token::Float(text.parse().unwrap_or(f64::INFINITY)), bytes);
            return Ok(());
        }
        if after.starts_with(is_word) {
            return Err(self.illegal(first));
        }
        let bytes = whole.len();
        match Integer::parse(&ascii(whole)) {
            Some(number) => self.push(Token::Integer(number), bytes),
            None => {
                let message = "Exceeds the limit (4300 digits) for integer string conversion";
                return Err(Error::value(message).at(&(self.position..self.position + 1)));
            }
        }
        Ok(())
    }

    fn name(&mut self, first: char) -> Result<(), Error> {
        let name: Arc<str> = word(self.rest()).into();
        let bytes = name.len();
        if self.rest().get(bytes..).is_some_and(|after| after.starts_with('(')) {
            self.push(Token::Call(name), bytes + 1);
            return Ok(());
        }
        let token = match &*name {
            "true" => Token::True,
            "false" => Token::False,
            "null" => Token::Null,
            "and" => Token::Sign("and"),
            "in" => Token::Sign("in"),
            "mod" => Token::Sign("mod"),
            "not" => Token::Sign("not"),
            "or" => Token::Sign("or"),
            text if text.starts_with("__") => return Err(self.illegal(first)),
            _ => Token::Keyword(name),
        };
        self.push(token, bytes);
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), Error> {
        let inner = self.rest().get(1..).unwrap_or_default();
        let Some(end) = closing(inner, quote) else {
            return Err(self.illegal(quote));
        };
        let raw = inner.get(..end).unwrap_or_default();
        let start = self.position;
        let text = if quote == '`' { Ok(raw.replace("\\`", "`")) } else { unescape(raw) };
        let text = text.map_err(|e| e.at(&(start..start + raw.chars().count() + 2)))?;
        self.push(Token::Text(text.into()), end + 2);
        Ok(())
    }

    fn sign(&mut self, first: char) -> Result<(), Error> {
        let found = SIGNS.iter().find(|sign| self.rest().starts_with(**sign));
        match found {
            Some(sign) if !sign.is_empty() => self.push(Token::Sign(sign), sign.len()),
            _ => return Err(self.illegal(first)),
        }
        Ok(())
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_digit(c: char) -> bool {
    crate::python::decimal_digit(c).is_some()
}

fn word(text: &str) -> &str {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

fn digits(text: &str) -> &str {
    let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Decimal digits of any script as ASCII ones.
fn ascii(digits: &str) -> String {
    let digit = |c| char::from_digit(crate::python::decimal_digit(c).unwrap_or(0), 10);
    digits.chars().filter_map(digit).collect()
}

/// The offset of the closing quote; a backslash protects the character after it.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some(at);
        }
        if c == '\\' {
            match chars.next() {
                Some((_, '\n')) | None => return None,
                Some(_) => {}
            }
        }
    }
    None
}

/// Replaces the escapes of a quoted text.
fn unescape(raw: &str) -> Result<String, Error> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (text, used) = escape(after)?;
        match text {
            Some(c) => out.push(c),
            None => {
                // An unknown escape is kept as it is.
                out.push('\\');
                out.push_str(after.get(..used).unwrap_or_default());
            }
        }
        rest = after.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(out)
}

/// The character an escape stands for, and the bytes it takes after the backslash.
fn escape(after: &str) -> Result<(Option<char>, usize), Error> {
    let Some(first) = after.chars().next() else {
        return Ok((None, 0));
    };
    let simple = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' => first,
        'x' => return coded(after, 2),
        'u' => return coded(after, 4),
        'U' => return coded(after, 8),
        '0'..='7' => {
            let digits: String = after.chars().take(3).take_while(|c| c.is_digit(8)).collect();
            let code = u32::from_str_radix(&digits, 8).unwrap_or(0);
            return Ok((char::from_u32(code), digits.len()));
        }
        'N' if after.starts_with("N{") && after.contains('}') => {
            let message = "Characters by name are not supported; use \\u or \\U with the code";
            return Err(ErrorKind::Escape(message.into()).into());
        }
        _ => return Ok((None, first.len_utf8())),
    };
    Ok((Some(simple), 1))
}

fn coded(after: &str, length: usize) -> Result<(Option<char>, usize), Error> {
    let hex: String = after.chars().skip(1).take(length).collect();
    if hex.chars().count() < length {
        return Ok((None, 1));
    }
    let valid = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
    if valid < length {
        let letter = after.get(..1).unwrap_or_default();
        let message = format!(
            "'unicodeescape' codec can't decode bytes in position 0-{}: truncated \\{letter}{} escape",
            1 + valid,
            "X".repeat(length)
        );
        return Err(ErrorKind::Escape(message).into());
    }
    let code = u32::from_str_radix(&hex, 16).unwrap_or(u32::MAX);
    if code > 0x10_ffff {
        let message =
            "'unicodeescape' codec can't decode bytes in position 0-9: illegal Unicode character";
        return Err(ErrorKind::Escape(message.into()).into());
    }
    if let Some(c) = pair(code, after.get(1 + length..).unwrap_or_default()) {
        return Ok((Some(c), 7 + length));
    }
    // Half of a surrogate pair is no character; the replacement character stands in for it.
    Ok((Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)), 1 + length))
}

/// The character of a surrogate pair whose second half follows as `\\uXXXX`.
fn pair(high: u32, rest: &str) -> Option<char> {
    let low = u32::from_str_radix(rest.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    if !(0xd800..0xdc00).contains(&high) || !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        match tokens(text) {
            (tokens, None) => {
                tokens.iter().map(|t| t.token.printed()).collect::<Vec<_>>().join(" ")
            }
            (_, Some(error)) => error.to_string(),
        }
    }

    #[test]
    fn numbers_end_with_their_word() {
        for (text, expected) in [
            ("12", "12"),
            ("1.50", "1.5"),
            ("1.5.a", "1.5 . a"),
            ("1.a", "1 . a"),
            ("1..2", "1 . . 2"),
            ("1e3", "Lexical error: illegal character '1' at position 0"),
            ("1.5a", "Lexical error: illegal character '5' at position 2"),
            ("\u{663}", "3"),
        ] {
            assert_eq!(printed(text), expected);
        }
    }

    #[test]
    fn escapes_give_characters_and_unknown_ones_stay() {
        for (text, expected) in [
            (r"'\x41\u00e9\101\0'", "A\u{e9}A\0"),
            (r"'\ud83d\ude00!'", "\u{1f600}!"),
            (r"'\q\8\x4'", r"\q\8\x4"),
            (r#"'\a\b\f\v\r\t\n\\\'\"'"#, "\u{7}\u{8}\u{c}\u{b}\r\t\n\\'\""),
            (r"`a\`b\n`", r"a`b\n"),
            (r"'a", "Lexical error: illegal character ''' at position 0"),
            ("'a\\\nb'", "Lexical error: illegal character ''' at position 0"),
        ] {
            assert_eq!(printed(text), expected);
        }
    }

    #[test]
    fn positions_count_characters() {
        let tokens = tokens("\"日本\" + é").0;
        let spans: Vec<_> = tokens.into_iter().map(|t| t.span).collect();
        assert_eq!(spans, [0..4, 5..6, 7..8]);
    }
}
