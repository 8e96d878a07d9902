//! Shell patterns over resource names: `*`, `?`, `[abc]`, `[a-z]`, `[!abc]`; case counts.
//!
//! Matching takes at most the product of both lengths, whatever the pattern.

/// Whether a name holds anything that a pattern gives a meaning to.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Whether the whole name matches the pattern.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let parts = parse(pattern);
    let name: Vec<char> = name.chars().collect();
    let (mut part, mut at) = (0, 0);
    // The last star passed and the position in the name there: where to backtrack to.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match parts.get(part) {
            Some(GlobToken::Any) => {
                star = Some((part, at));
                part += 1;
            }
            Some(one) if one.accepts(name[at]) => {
                part += 1;
                at += 1;
            }
            _ => match &mut star {
                Some((behind, from)) => {
                    *from += 1;
                    (part, at) = (*behind + 1, *from);
                }
                None => return false,
            },
        }
    }
    parts[part.min(parts.len())..].iter().all(|part| matches!(part, GlobToken::Any))
}

/// One piece of a pattern.
enum GlobToken {
    /// Any number of characters.
    Any,
    /// Any one character.
    One,
    /// This character.
    Exactly(char),
    /// One character in (or, if negated, outside) these ranges.
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl GlobToken {
    fn accepts(&self, c: char) -> bool {
        match self {
            GlobToken::Any => false,
            GlobToken::One => true,
            GlobToken::Exactly(expected) => c == *expected,
            GlobToken::Set { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

fn parse(pattern: &str) -> Vec<GlobToken> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut parts = Vec::with_capacity(chars.len());
    let mut at = 0;
    // Once a bracket was found to have no end, no later one has.
    let mut unclosed = false;
    while at < chars.len() {
        match chars[at] {
            '*' => parts.push(GlobToken::Any),
            '?' => parts.push(GlobToken::One),
            '[' if !unclosed => match set_end(&chars, at) {
                Some(end) => {
                    parts.push(set(&chars[at + 1..end]));
                    at = end;
                }
                None => {
                    unclosed = true;
                    parts.push(GlobToken::Exactly('['));
                }
            },
            c => parts.push(GlobToken::Exactly(c)),
        }
        at += 1;
    }
    parts
}

/// The index of the bracket that closes a set; one right after the opening is a member.
fn set_end(chars: &[char], open: usize) -> Option<usize> {
    let mut from = open + 1;
    if chars.get(from) == Some(&'!') {
        from += 1;
    }
    if chars.get(from) == Some(&']') {
        from += 1;
    }
    (from..chars.len()).find(|at| chars[*at] == ']')
}

fn set(inside: &[char]) -> GlobToken {
    let negated = inside.first() == Some(&'!');
    let members = if negated { &inside[1..] } else { inside };
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < members.len() {
        match members.get(at + 1..at + 3) {
            Some(['-', high]) => {
                // A range that runs backwards holds nothing.
                if members[at] <= *high {
                    ranges.push((members[at], *high));
                }
                at += 3;
            }
            _ => {
                ranges.push((members[at], members[at]));
                at += 1;
            }
        }
    }
    GlobToken::Set { negated, ranges }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_a_shell_matches() {
        for (pattern, name, expected) in [
            ("web", "web", true),
            ("web", "Web", false),
            ("web", "web1", false),
            ("", "", true),
            ("*", "", true),
            ("*_db", "main_db", true),
            ("*_db", "main_db2", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?", "", false),
            ("?", "é", true),
            ("[ab]c", "bc", true),
            ("[ab]c", "cc", false),
            ("[!ab]c", "cc", true),
            ("[!ab]c", "ac", false),
            ("[a-c]", "b", true),
            ("[a-c]", "-", false),
            ("[c-a]", "b", false),
            ("[!c-a]", "b", true),
            ("[-a]", "-", true),
            ("[a-]", "-", true),
            ("[]a]", "]", true),
            ("[!]a]", "b", true),
            ("[!]a]", "]", false),
            ("[!]", "[!]", true),
            ("[", "[", true),
            ("a[b", "a[b", true),
            ("[a]", "[a]", false),
            ("[*]", "*", true),
            ("[*]", "x", false),
            ("**", "x", true),
            ("a\nb*", "a\nbc", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_answered() {
        let pattern = "*a".repeat(200);
        assert!(!matches(&pattern, &"a".repeat(199)));
        assert!(!matches(&"[".repeat(10_000), "x"));
    }
}
