//! How Python prints scalars.
//!
//! Templates and expressions lean on these forms: `str(1e16)` is `1e+16`, a list prints as `[1,
//! 'x']`.

use std::fmt::Write;

/// A double in the shortest form that reads back: `1.0`, `0.0001`, `1e-05`, `1e+22`, `nan`, `inf`.
pub fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf".into() } else { "-inf".into() };
    }
    // Rust's scientific form has the shortest digits; only their layout differs.
    let shortest = format!("{number:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{number}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

/// Text in quotes with escapes, as Python's `repr` shows it.
pub fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if is_printable(c) => out.push(c),
            c => escape(&mut out, c),
        }
    }
    out.push(quote);
    out
}

/// The text of a number with what Python overlooks taken away: blanks around it, single
/// underscores between digits, digits of other scripts.
pub(crate) fn plain_number(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut after_digit = false;
    let mut chars = text.trim_matches(is_blank).chars().peekable();
    while let Some(c) = chars.next() {
        let digit = decimal_digit(c).and_then(|value| char::from_digit(value, 10));
        if c == '_' {
            let before_digit = chars.peek().is_some_and(|next| decimal_digit(*next).is_some());
            if !after_digit || !before_digit {
                return None;
            }
        } else {
            out.push(digit.unwrap_or(c));
        }
        after_digit = digit.is_some();
    }
    Some(out)
}

/// Whether Python counts a character as white space.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// The position that an index means in a sequence; negative ones count from the end.
pub(crate) fn position(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if index < 0 { index.checked_add(length)? } else { index };
    (0..length).contains(&at).then_some(at as usize)
}

/// A boundary of a slice: negative ones count from the end, those out of range are cut.
pub(crate) fn boundary(index: i64, length: usize) -> usize {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if index < 0 { index.saturating_add(length) } else { index };
    at.clamp(0, length) as usize
}

/// The value of a decimal digit of any script.
pub(crate) fn decimal_digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    // Every script has its ten digits in one run.
    let before = DIGIT_ZEROS.partition_point(|zero| *zero <= c).checked_sub(1)?;
    let zero = DIGIT_ZEROS.get(before)?;
    Some(c as u32 - *zero as u32).filter(|value| *value < 10)
}

/// The digit zero of every script, sorted.
const DIGIT_ZEROS: [char; 66] = [
    '\u{30}',
    '\u{660}',
    '\u{6f0}',
    '\u{7c0}',
    '\u{966}',
    '\u{9e6}',
    '\u{a66}',
    '\u{ae6}',
    '\u{b66}',
    '\u{be6}',
    '\u{c66}',
    '\u{ce6}',
    '\u{d66}',
    '\u{de6}',
    '\u{e50}',
    '\u{ed0}',
    '\u{f20}',
    '\u{1040}',
    '\u{1090}',
    '\u{17e0}',
    '\u{1810}',
    '\u{1946}',
    '\u{19d0}',
    '\u{1a80}',
    '\u{1a90}',
    '\u{1b50}',
    '\u{1bb0}',
    '\u{1c40}',
    '\u{1c50}',
    '\u{a620}',
    '\u{a8d0}',
    '\u{a900}',
    '\u{a9d0}',
    '\u{a9f0}',
    '\u{aa50}',
    '\u{abf0}',
    '\u{ff10}',
    '\u{104a0}',
    '\u{10d30}',
    '\u{11066}',
    '\u{110f0}',
    '\u{11136}',
    '\u{111d0}',
    '\u{112f0}',
    '\u{11450}',
    '\u{114d0}',
    '\u{11650}',
    '\u{116c0}',
    '\u{11730}',
    '\u{118e0}',
    '\u{11950}',
    '\u{11c50}',
    '\u{11d50}',
    '\u{11da0}',
    '\u{16a60}',
    '\u{16ac0}',
    '\u{16b50}',
    '\u{1d7ce}',
    '\u{1d7d8}',
    '\u{1d7e2}',
    '\u{1d7ec}',
    '\u{1d7f6}',
    '\u{1e140}',
    '\u{1e2f0}',
    '\u{1e950}',
    '\u{1fbf0}',
];

fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        c if c.is_whitespace() || c.is_control() => false,
        // Rust's own notion of a printable character is close enough beyond ASCII.
        c => !c.escape_debug().to_string().starts_with("\\u") || is_combining(c),
    }
}

fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn escape(out: &mut String, c: char) {
    let code = c as u32;
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_in_the_shortest_form() {
        for (number, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1e22, "1e+22"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(number), text);
        }
    }

    #[test]
    fn text_is_quoted_with_the_quote_it_lacks() {
        for (text, printed) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("it's \"b\"", "'it\\'s \"b\"'"),
            ("a\n\\\u{7}", "'a\\n\\\\\\x07'"),
            ("é\u{a0}", "'é\\xa0'"),
            ("\u{2028}", "'\\u2028'"),
        ] {
            assert_eq!(quoted(text), printed);
        }
    }
}
