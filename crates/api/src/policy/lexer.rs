//! The words of a check, and where they stand.

use std::fmt;

/// A word or a parenthesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    And,
    Or,
    Not,
    Check(&'a str),
}

/// A token and the byte that it begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) at: usize,
    pub(super) token: Token<'a>,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Token::Open => "(",
            Token::Close => ")",
            Token::And => "and",
            Token::Or => "or",
            Token::Not => "not",
            Token::Check(text) => text,
        };
        write!(f, "`{text}`")
    }
}

/// Parts a text at its blanks, and the parentheses around each piece from the piece: those inside of one
/// belong to it, as in `project_id:%(project_id)s`.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut from = 0;
    for piece in text.split(char::is_whitespace) {
        let start = from;
        from += piece.len() + text[from + piece.len()..].chars().next().map_or(0, char::len_utf8);
        let opened = piece.trim_start_matches('(');
        let core = opened.trim_end_matches(')');
        let (before, after) = (piece.len() - opened.len(), opened.len() - core.len());
        words.extend((0..before).map(|i| Word { at: start + i, token: Token::Open }));
        let at = start + before;
        if !core.is_empty() {
            words.push(Word { at, token: word(core) });
        }
        let behind = at + core.len();
        words.extend((0..after).map(|i| Word { at: behind + i, token: Token::Close }));
    }
    words
}

fn word(text: &str) -> Token<'_> {
    match () {
        () if text.eq_ignore_ascii_case("and") => Token::And,
        () if text.eq_ignore_ascii_case("or") => Token::Or,
        () if text.eq_ignore_ascii_case("not") => Token::Not,
        () => Token::Check(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_inside_a_word_belong_to_it() {
        let found: Vec<_> = words(" ((a:%(b)s) and\t!)").iter().map(|w| (w.at, w.token)).collect();
        let expected = [
            (1, Token::Open),
            (2, Token::Open),
            (3, Token::Check("a:%(b)s")),
            (10, Token::Close),
            (12, Token::And),
            (16, Token::Check("!")),
            (17, Token::Close),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            words("é () "),
            [
                Word { at: 0, token: Token::Check("é") },
                Word { at: 3, token: Token::Open },
                Word { at: 4, token: Token::Close },
            ]
        );
    }
}
