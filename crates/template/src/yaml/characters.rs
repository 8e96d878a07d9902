//! Which characters a text may hold.

use super::cursor::Mark;
use super::error::{YamlError, YamlResult};

/// Rejects control characters and what is no character at all.
pub(super) fn check(text: &str) -> YamlResult<()> {
    let mut at = 0;
    loop {
        at += plain_length(text.as_bytes().get(at..).unwrap_or_default());
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        if !is_allowed(c) {
            let message = format!("the character U+{:04X} is not allowed", c as u32);
            let error = YamlError::syntax(message, position(text, at));
            return Err(error.help(Some("in double quotes, write it as an escape such as `\\x07`")));
        }
        at += c.len_utf8();
    }
    Ok(())
}

/// The number of leading bytes that are certainly allowed; checks many at once.
fn plain_length(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<32>();
    let is_plain = |block: &[u8; 32]| block.iter().fold(true, |all, b| all & is_plain_ascii(*b));
    let whole = blocks.iter().take_while(|block| is_plain(block)).count() * 32;
    whole + bytes[whole..].iter().take_while(|byte| is_plain_ascii(**byte)).count()
}

fn is_plain_ascii(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n')
}

fn is_allowed(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n'
            | '\r'
            | ' '..='~'
            | '\u{85}'
            | '\u{a0}'..='\u{fffd}'
            | '\u{10000}'..='\u{10ffff}'
    )
}

/// Line and column of an offset, for the one problem that is found before scanning.
fn position(text: &str, at: usize) -> Mark {
    let before = text.get(..at).unwrap_or_default();
    let mut mark = Mark { offset: at as u32, ..Mark::default() };
    let mut chars = before.strip_prefix('\u{feff}').unwrap_or(before).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                mark.line += 1;
                mark.column = 0;
            }
            _ => mark.column += 1,
        }
    }
    mark
}
