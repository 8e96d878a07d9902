//! "Did you mean": the candidate nearest to a misspelt word.
//!
//! Cost is bounded: long words are never compared, and of many candidates only the first few
//! thousand are compared.

/// Words longer than this are not compared.
const MAX_LENGTH: usize = 48;
/// Candidates after this many are not compared.
const MAX_CANDIDATES: usize = 2_000;

/// After this many findings of one kind no more suggestions are computed.
pub(crate) const MAX_SUGGESTIONS: usize = 50;

/// The candidate that a misspelt word most likely stands for, if one is near enough.
///
/// Words that differ in case alone are nearest; otherwise about a third of the letters may be
/// wrong. Of equally near candidates the first is taken.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (word, length) = folded(word)?;
    let mut best = None;
    let mut bound = 1 + length / 3;
    for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
        let Some((other, other_length)) = folded(candidate) else { continue };
        if other_length.abs_diff(length) > bound {
            continue;
        }
        let distance = strsim::osa_distance(&word, &other);
        // A word must keep more letters than it changes.
        if distance < bound && distance < length.min(other_length) {
            (best, bound) = (Some(candidate), distance);
        }
        if distance == 0 {
            break;
        }
    }
    best
}

/// A help text that names the nearest candidate, or nothing.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    closest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// A help text: the nearest candidate, or else all of them.
pub fn help<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    did_you_mean(word, candidates.clone()).unwrap_or_else(|| {
        let all: Vec<&str> = candidates.into_iter().take(20).collect();
        format!("expected one of: {}", all.join(", "))
    })
}

/// The ASCII character that a full-width form looks like; East Asian keyboards and publishers write those.
pub(crate) fn plain_form(wide: char) -> Option<char> {
    const OFFSET: u32 = '！' as u32 - '!' as u32;
    match wide {
        '！'..='～' => char::from_u32(u32::from(wide) - OFFSET),
        _ => None,
    }
}

/// The word in lower case and plain characters, unless it is empty or too long to be compared.
fn folded(word: &str) -> Option<(String, usize)> {
    let plain = word.chars().map(|c| plain_form(c).unwrap_or(c));
    let folded = plain.flat_map(char::to_lowercase).collect::<String>();
    let length = folded.chars().take(MAX_LENGTH + 1).count();
    (1..=MAX_LENGTH).contains(&length).then_some((folded, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["type", "default", "description", "hidden", "constraints"];
        for (word, expected) in [
            ("defualt", Some("default")),
            ("Type", Some("type")),
            ("typ", Some("type")),
            ("descripton", Some("description")),
            ("constraint", Some("constraints")),
            ("ｔｙｐｅ", Some("type")),
            ("colour", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(closest(word, keys), expected, "{word}");
        }
        assert_eq!(closest(&"a".repeat(5000), keys), None);
    }

    #[test]
    fn help_names_one_candidate_or_all() {
        assert_eq!(help("strnig", ["string", "number"]), "did you mean `string`?");
        assert_eq!(help("qqq", ["string", "number"]), "expected one of: string, number");
    }

    #[test]
    fn swapped_neighbours_count_once() {
        assert_eq!(closest("abcd", ["bacd", "xbcx"]), Some("bacd"));
        assert_eq!(closest("sitting", ["kitten", "sittingx"]), Some("sittingx"));
    }
}
