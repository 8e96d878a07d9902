//! Tags: the type of a node's value, given by name or resolved from plain text.

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Binary,
    Bool,
    Float,
    Int,
    Map,
    /// The key `<<`.
    Merge,
    Null,
    Omap,
    Pairs,
    Seq,
    Set,
    Str,
    Timestamp,
    /// The key `=`.
    Value,
    /// One without a meaning, which [`super::tape::Tape::unknown_tag`] names.
    Unknown,
}

/// The tags that have a meaning, by the last part of their name.
const NAMES: [(&str, Tag); 14] = [
    ("binary", Tag::Binary),
    ("bool", Tag::Bool),
    ("float", Tag::Float),
    ("int", Tag::Int),
    ("map", Tag::Map),
    ("merge", Tag::Merge),
    ("null", Tag::Null),
    ("omap", Tag::Omap),
    ("pairs", Tag::Pairs),
    ("seq", Tag::Seq),
    ("set", Tag::Set),
    ("str", Tag::Str),
    ("timestamp", Tag::Timestamp),
    ("value", Tag::Value),
];

/// The tag with a full name.
pub(super) fn named(name: &str) -> Option<Tag> {
    let name = name.strip_prefix("tag:yaml.org,2002:")?;
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, tag)| *tag)
}

/// The kind of value that plain text stands for under YAML 1.1. Dates are text.
pub(super) fn resolve_plain(text: &str) -> Tag {
    // The patterns of PyYAML let one line break pass at the end.
    let text = text.strip_suffix('\n').filter(|text| !text.is_empty()).unwrap_or(text);
    let Some(first) = text.bytes().next() else { return Tag::Null };
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => resolve_number(text),
        b'~' if text == "~" => Tag::Null,
        b'<' if text == "<<" => Tag::Merge,
        b'=' if text == "=" => Tag::Value,
        b'n' | b'N' | b't' | b'T' | b'y' | b'Y' | b'f' | b'F' | b'o' | b'O' => resolve_word(text),
        _ => Tag::Str,
    }
}

fn resolve_word(text: &str) -> Tag {
    if text.len() > 5 {
        return Tag::Str;
    }
    match text {
        "null" | "Null" | "NULL" => Tag::Null,
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "on" | "On"
        | "ON" | "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" => Tag::Bool,
        _ => Tag::Str,
    }
}

fn resolve_number(text: &str) -> Tag {
    if !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Tag::Int;
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") || is_point_first(text) {
        return Tag::Float;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || is_float(unsigned) {
        Tag::Float
    } else if is_int(unsigned) {
        Tag::Int
    } else {
        Tag::Str
    }
}

fn is_int(text: &str) -> bool {
    let many = |digits: &str, allowed: fn(char) -> bool| {
        !digits.is_empty() && digits.chars().all(|c| c == '_' || allowed(c))
    };
    if text == "0" {
        return true;
    }
    if let Some(digits) = text.strip_prefix("0b") {
        return many(digits, |c| matches!(c, '0' | '1'));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return many(digits, |c| c.is_ascii_hexdigit());
    }
    if let Some(digits) = text.strip_prefix('0') {
        return many(digits, |c| matches!(c, '0'..='7'));
    }
    let (whole, rest) = leading_digits(text);
    !whole.is_empty() && (rest.is_empty() || skip_sixties(rest) == Some(""))
}

/// `1.5`, `1.`, `1.5e+3` or `1:30.5`, without a sign.
fn is_float(text: &str) -> bool {
    let (whole, rest) = leading_digits(text);
    if whole.is_empty() {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        return is_exponent(skip_digits(fraction));
    }
    let fraction = skip_sixties(rest).and_then(|rest| rest.strip_prefix('.'));
    fraction.is_some_and(|fraction| skip_digits(fraction).is_empty())
}

/// `.5` or `.5e+3`, which take no sign.
fn is_point_first(text: &str) -> bool {
    let Some(fraction) = text.strip_prefix('.') else { return false };
    let (digits, rest) = leading_digits(fraction);
    !digits.is_empty() && is_exponent(rest)
}

/// Nothing, or an exponent, whose sign is required.
fn is_exponent(text: &str) -> bool {
    let Some(signed) = text.strip_prefix(['e', 'E']) else { return text.is_empty() };
    let digits = signed.strip_prefix(['+', '-']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits off a digit with the digits and underscores after it.
fn leading_digits(text: &str) -> (&str, &str) {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return ("", text);
    }
    let rest = skip_digits(text);
    text.split_at(text.len() - rest.len())
}

fn skip_digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c == '_' || c.is_ascii_digit())
}

/// What is left after one or more of `:0` to `:59`.
fn skip_sixties(text: &str) -> Option<&str> {
    let mut text = text;
    let mut found = false;
    while let Some(digits) = text.strip_prefix(':') {
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let fits = match count {
            1 => true,
            2 => digits.as_bytes()[0] <= b'5',
            _ => false,
        };
        if !fits {
            return None;
        }
        text = &digits[count..];
        found = true;
    }
    found.then_some(text)
}
