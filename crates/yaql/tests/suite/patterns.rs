//! Regular expressions of Python: what matches, and what is no pattern.

use kiln_yaql::regex::compile;

#[test]
fn a_match_from_the_start_has_to_reach_the_end() {
    for (pattern, text, whole) in [
        ("[a-z]+", "abc", true),
        ("[a-z]+", "abc1", false),
        ("[a-z]+", "1abc", false),
        ("a|ab", "ab", false),
        ("ab|a", "ab", true),
        ("a*?", "aa", false),
        ("a*?$", "aa", true),
        ("^[^:]*$", "x y", true),
        ("[a-z]+$", "abc\n", false),
        ("(?i)ABC", "abc", true),
        ("\\w+", "é_1", true),
        ("[\\w-]{1,3}", "a-b", true),
        ("", "", true),
        ("", "a", false),
        ("(?P<q>['\"])x(?P=q)", "'x'", true),
        ("(?P<q>['\"])x(?P=q)", "'x\"", false),
        (r"(\d+)-\1", "12-12", true),
        (r"a\Z", "a", true),
        (r"\Aa{,2}", "aa", true),
        ("(?x) a  b # both", "ab", true),
        ("(?!-)[a-z-]+(?<!-)", "a-b", true),
        ("(?!-)[a-z-]+(?<!-)", "a-", false),
        ("[][]", "]", true),
        ("[^]]", "]", false),
        ("[a&&b]", "&", true),
        ("[[:alpha:]]", ":]", true),
        ("a{b", "a{b", true),
        ("{}", "{}", true),
        ("(?a)\\d", "\u{663}", false),
        ("\\d", "\u{663}", true),
        ("(?s).", "\n", true),
        (".", "\n", false),
        ("(a)|b", "b", true),
        ("(a)?(?(1)b|c)", "c", true),
        ("(?-i:a)", "A", false),
        ("(?i:a)b", "Ab", true),
        ("(?>a+)b", "aab", true),
        ("a++b", "aab", true),
        (r"<a\(?>", "<a>", true),
        (r"\<\'\>", "<'>", true),
        ("(?=a)*a", "a", true),
        (r"(?a)\B", "", false),
        (r"\u00e9\x41\101\0", "\u{e9}AA\0", true),
    ] {
        let found = compile(pattern).unwrap().matches_whole(text).unwrap();
        assert_eq!(found, whole, "{pattern} on {text:?}");
    }
}

#[test]
fn matches_at_the_start_are_ranges_of_bytes() {
    let pattern = compile("é+").unwrap();
    assert_eq!(pattern.match_start("ééa").unwrap(), Some(0..4));
    assert_eq!(pattern.match_start("aéé").unwrap(), None);
    assert!(pattern.is_match("aéé").unwrap());
}

#[test]
fn mistakes_are_named_as_in_python() {
    for (pattern, message) in [
        ("(", "missing ), unterminated subpattern at position 0"),
        (")", "unbalanced parenthesis at position 0"),
        ("a)", "unbalanced parenthesis at position 1"),
        ("[a", "unterminated character set at position 0"),
        ("[z-a]", "bad character range z-a at position 1"),
        ("*a", "nothing to repeat at position 0"),
        ("^*", "nothing to repeat at position 1"),
        ("a|*", "nothing to repeat at position 2"),
        ("a**", "multiple repeat at position 2"),
        ("a{2,1}", "min repeat greater than max repeat at position 2"),
        ("\\", "bad escape (end of pattern) at position 0"),
        ("\\q", "bad escape \\q at position 0"),
        ("[\\q]", "bad escape \\q at position 1"),
        ("\\x1", "incomplete escape \\x1 at position 0"),
        ("(?P<1>a)", "bad character in group name '1' at position 4"),
        (
            "(?P<a>a)(?P<a>b)",
            "redefinition of group name 'a' as group 2; was group 1 at position 12",
        ),
        ("(?P=a)", "unknown group name 'a' at position 4"),
        ("(?<n>a)", "unknown extension ?<n at position 1"),
        ("(?z)", "unknown extension ?z at position 1"),
        ("(a)\\2", "invalid group reference 2 at position 4"),
        ("(?<=a+)b", "look-behind requires fixed-width pattern"),
        ("(a\\1)", "cannot refer to an open group at position 2"),
        ("a(?i)b", "global flags not at the start of the expression at position 1"),
        ("a\n(", "missing ), unterminated subpattern at position 2 (line 2, column 1)"),
    ] {
        assert_eq!(compile(pattern).unwrap_err(), message, "{pattern}");
    }
}
