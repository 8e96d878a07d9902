//! Wraps text into lines: at spaces, at hyphens between letters, and inside a word that is
//! longer than a line.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of text on a terminal, in columns.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Wraps text into lines of at most `width` columns. Spaces at the ends of lines are dropped.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let text = without_tabs(text).replace(['\n', '\r', '\u{b}', '\u{c}'], " ");
    let mut chunks = chunks(&text).into_iter().peekable();
    let mut lines: Vec<String> = Vec::new();
    // The rest of a word that was cut.
    let mut cut: Option<&str> = None;
    loop {
        let mut line: Vec<&str> = Vec::new();
        let mut used = 0;
        if cut.is_none() && !lines.is_empty() {
            chunks.next_if(|chunk| is_blank(chunk));
        }
        while let Some(chunk) = cut.or_else(|| chunks.peek().copied()) {
            if used + width(chunk) <= columns {
                line.push(chunk);
                used += width(chunk);
                if cut.take().is_none() {
                    chunks.next();
                }
                continue;
            }
            if width(chunk) > columns {
                let (head, tail) =
                    chunk.split_at(place_to_cut(chunk, columns - used, line.is_empty()));
                line.push(head);
                if cut.is_none() {
                    chunks.next();
                }
                cut = Some(tail);
            }
            break;
        }
        if line.last().is_some_and(|last| is_blank(last)) {
            line.pop();
        }
        if !line.is_empty() {
            lines.push(line.concat());
        }
        if cut.is_none() && chunks.peek().is_none() {
            return lines;
        }
    }
}

/// Expands tabs to the next multiple of eight columns.
pub(crate) fn without_tabs(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for c in text.chars() {
        let blanks = if c == '\t' { 8 - column % 8 } else { 0 };
        out.extend(std::iter::repeat_n(' ', blanks));
        column += blanks;
        if c != '\t' {
            out.push(c);
            column += 1;
        }
    }
    Cow::Owned(out)
}

/// The offset at which a long word is cut: after its last hyphen that fits, else where the line
/// ends. An empty line takes at least one character.
fn place_to_cut(word: &str, room: usize, is_first: bool) -> usize {
    let mut used = 0;
    let mut end = 0;
    for (at, c) in word.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room && !(is_first && at == 0) {
            break;
        }
        end = at + c.len_utf8();
    }
    match word[..end].rfind('-') {
        Some(hyphen) if word[..hyphen].contains(|c| c != '-') => hyphen + 1,
        _ => end,
    }
}

/// The pieces between which a line may break: spaces, words, and parts of hyphenated words.
fn chunks(text: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let blank = rest.starts_with(' ');
        let length = rest.find(|c| (c == ' ') != blank).unwrap_or(rest.len());
        let (run, after) = rest.split_at(length);
        if blank {
            chunks.push(run);
        } else {
            hyphenated(run, &mut chunks);
        }
        rest = after;
    }
    chunks
}

/// The parts of a word: split after a hyphen between letters, and around a dash of several hyphens.
fn hyphenated<'a>(word: &'a str, chunks: &mut Vec<&'a str>) {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let is_letter =
        |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|(_, c)| is_letter(*c));
    let mut start = 0;
    let mut at = 0;
    while at < chars.len() {
        let dash = chars[at..].iter().take_while(|(_, c)| *c == '-').count();
        let here = chars[at].0;
        let after = |count: usize| chars.get(at + count).map_or(word.len(), |(place, _)| *place);
        let follows_word = at > 0 && is_word_part(chars[at - 1].1);
        let precedes_word = chars.get(at + dash).is_some_and(|(_, c)| is_word(*c));
        if dash >= 2 && follows_word && precedes_word {
            if start < here {
                chunks.push(&word[start..here]);
            }
            start = after(dash);
            chunks.push(&word[here..start]);
        } else if dash == 1 {
            let two_letters = is_letter(at.checked_sub(1)) && is_letter(at.checked_sub(2));
            let one_between = is_letter(at.checked_sub(1))
                && at.checked_sub(2).is_some_and(|two| chars[two].1 == '-')
                && is_letter(at.checked_sub(3));
            let then = is_letter(Some(at + 1))
                && (is_letter(Some(at + 2))
                    || chars.get(at + 2).is_some_and(|(_, c)| *c == '-')
                        && is_letter(Some(at + 3)));
            if (two_letters || one_between) && then {
                chunks.push(&word[start..after(1)]);
                start = after(1);
            }
        }
        at += dash.max(1);
    }
    if start < word.len() {
        chunks.push(&word[start..]);
    }
}

fn is_blank(chunk: &str) -> bool {
    chunk.chars().all(|c| c == ' ')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_letter(c: char) -> bool {
    is_word(c) && !c.is_numeric()
}

fn is_word_part(c: char) -> bool {
    is_word(c) || "!\"'&.,?".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_at_blanks_and_hyphens() {
        for (text, columns, lines) in [
            ("One random string and a value", 10, &["One random", "string and", "a value"][..]),
            (
                "derived-from it, with-hyphens-in it",
                12,
                &["derived-from", "it, with-", "hyphens-in", "it"],
            ),
            (
                "a656be17-f1b1-45b0-a670-a6b87e8cde26",
                22,
                &["a656be17-f1b1-45b0-", "a670-a6b87e8cde26"],
            ),
            ("a6b87e8cde26", 10, &["a6b87e8cde", "26"]),
            ("last   three  spaces", 13, &["last   three", "spaces"]),
            ("  x", 10, &["  x"]),
            ("中文中文中文", 5, &["中文", "中文", "中文"]),
            ("tab\there and there", 13, &["tab     here", "and there"]),
            ("one--two", 5, &["one--", "two"]),
            ("a-e-mail", 5, &["a-e-", "mail"]),
            ("mail-1-off", 8, &["mail-1-", "off"]),
            ("", 5, &[]),
            ("中", 1, &["中"]),
        ] {
            assert_eq!(wrap(text, columns), lines, "{text}");
        }
    }
}
