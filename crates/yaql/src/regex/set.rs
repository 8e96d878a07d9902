//! Character sets: the content of brackets.

use super::parse::{Cursor, class, literal};

/// One member of a set.
enum SetMember {
    Char(char),
    Class(&'static str),
}

/// Translates a set; the cursor is after the opening bracket, which is at `start`.
pub(super) fn translate(
    cursor: &mut Cursor,
    start: usize,
    ascii: bool,
    out: &mut String,
) -> Result<(), String> {
    let unterminated = |cursor: &Cursor| cursor.error("unterminated character set", start);
    out.push_str(if cursor.take('^') { "[^" } else { "[" });
    let first = cursor.at;
    loop {
        let at = cursor.at;
        let Some(c) = cursor.next() else {
            return Err(unterminated(cursor));
        };
        if c == ']' && at != first {
            break;
        }
        let low = member(cursor, c, ascii)?;
        if !cursor.take('-') {
            push(out, &low);
            continue;
        }
        let Some(end) = cursor.next() else {
            return Err(unterminated(cursor));
        };
        if end == ']' {
            push(out, &low);
            literal(out, '-');
            break;
        }
        let high = member(cursor, end, ascii)?;
        match (low, high) {
            (SetMember::Char(low), SetMember::Char(high)) if low <= high => {
                literal(out, low);
                out.push('-');
                literal(out, high);
            }
            _ => {
                let range = cursor.text(at, cursor.at);
                return Err(cursor.error(&format!("bad character range {range}"), at));
            }
        }
    }
    out.push(']');
    Ok(())
}

fn push(out: &mut String, member: &SetMember) {
    match member {
        SetMember::Char(c) => literal(out, *c),
        SetMember::Class(class) => out.push_str(class),
    }
}

fn member(cursor: &mut Cursor, c: char, ascii: bool) -> Result<SetMember, String> {
    if c != '\\' {
        return Ok(SetMember::Char(c));
    }
    let start = cursor.at - 1;
    let Some(c) = cursor.next() else {
        return Err(cursor.error("bad escape (end of pattern)", start));
    };
    if let Some(class) = class(c, ascii) {
        return Ok(SetMember::Class(class));
    }
    Ok(SetMember::Char(match c {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        'x' => cursor.code(start, 2)?,
        'u' => cursor.code(start, 4)?,
        'U' => cursor.code(start, 8)?,
        '0'..='7' => {
            let digits = c.to_string() + &cursor.take_while(2, |c| c.is_digit(8));
            octal(cursor, &digits, start)?
        }
        c if c.is_ascii_alphanumeric() => return Err(cursor.bad_escape(start)),
        c => c,
    }))
}

/// The character of an octal escape.
pub(super) fn octal(cursor: &Cursor, digits: &str, start: usize) -> Result<char, String> {
    match u32::from_str_radix(digits, 8) {
        Ok(code @ 0..=0o377) => Ok(char::from_u32(code).unwrap_or_default()),
        _ => {
            let message = format!("octal escape value \\{digits} outside of range 0-0o377");
            Err(cursor.error(&message, start))
        }
    }
}
