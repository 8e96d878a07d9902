//! "Did you mean": the candidate nearest to a misspelt word.
//!
//! Cost is bounded: long words are never compared, and of many candidates only the first few
//! thousand are looked at.

/// Words longer than this are not compared.
const MAX_LENGTH: usize = 48;
/// Candidates behind this many are not looked at.
const MAX_CANDIDATES: usize = 2_000;

/// After this many findings of one kind, suggestions are no longer worth their cost.
pub const MANY: usize = 50;

/// The candidate that a misspelt word most likely stands for, if one is near enough.
///
/// Words that differ in case alone are nearest; otherwise about a third of the letters may be wrong.
/// Of equally near candidates the first is taken.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded: Vec<char> = word.to_lowercase().chars().take(MAX_LENGTH + 1).collect();
    if folded.is_empty() || folded.len() > MAX_LENGTH {
        return None;
    }
    let mut best = None;
    let mut bound = 1 + folded.len() / 3;
    for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
        let other: Vec<char> = candidate.to_lowercase().chars().take(MAX_LENGTH + 1).collect();
        if other.is_empty()
            || other.len() > MAX_LENGTH
            || other.len().abs_diff(folded.len()) > bound
        {
            continue;
        }
        let distance = distance(&folded, &other);
        // A word must keep more letters than it changes.
        if distance < bound && distance < folded.len().min(other.len()) {
            (best, bound) = (Some(candidate), distance);
        }
        if distance == 0 {
            break;
        }
    }
    best
}

/// A line of help that names the nearest candidate, or nothing.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    closest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// A line of help: the nearest candidate, or else all of them.
pub fn help<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    did_you_mean(word, candidates.clone()).unwrap_or_else(|| {
        let all: Vec<&str> = candidates.into_iter().take(20).collect();
        format!("expected one of: {}", all.join(", "))
    })
}

/// Number of insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        (before, last) = (last, row);
    }
    last[b.len()]
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
        let chars = |s: &str| s.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("abcd"), &chars("bacd")), 1);
        assert_eq!(distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(distance(&chars(""), &chars("abc")), 3);
    }
}
