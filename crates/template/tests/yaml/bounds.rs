//! No text takes more than its share: sizes, depths and copies are bounded.

use kiln_template::{Diagnostic, Limits, Sources, codes, read, yaml};

const SIZE: usize = 512 * 1024;

fn error(text: &str) -> Option<Diagnostic> {
    let file = Sources::new().add("case", text);
    let (node, findings) = yaml::read(file, text, &Limits::default());
    let error = findings.into_iter().find(Diagnostic::is_error);
    assert_eq!(node.is_none(), error.is_some());
    error
}

#[test]
fn text_above_the_size_is_refused_in_the_words_of_the_reference() {
    let text = "a".repeat(524_289);
    let file = Sources::new().add("case", "");
    let (node, findings) = read::read(file, &text, &Limits::default());
    assert!(node.is_none());
    assert_eq!(findings[0].code, &codes::TOO_LARGE);
    assert_eq!(
        findings[0].text(),
        "Request limit exceeded: Template size (524289 bytes) exceeds maximum allowed size \
         (524288 bytes)."
    );
    assert!(read::read(file, &text[1..], &Limits::default()).0.is_some());
}

#[test]
fn collections_nest_as_deep_as_allowed_and_no_deeper() {
    let flow = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let block = |depth: usize| format!("{}x", "- ".repeat(depth));
    let indented = |depth: usize| -> String {
        (0..depth).map(|level| format!("{}a:\n", " ".repeat(level))).collect()
    };
    for nested in [&flow as &dyn Fn(usize) -> String, &block, &indented] {
        assert_eq!(error(&nested(100)), None);
        assert_eq!(error(&nested(101)).unwrap().code, &codes::TOO_DEEP);
    }
}

#[test]
fn whatever_limit_is_given_the_stack_suffices() {
    let limits = Limits { max_depth: usize::MAX, ..Limits::default() };
    let deepest = limits.depth();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let pairs = |depth: usize| format!("{}x{}", "{a: ".repeat(depth), "}".repeat(depth));
    for (text, fits) in [
        (nested(deepest), true),
        (pairs(deepest), true),
        (nested(deepest + 1), false),
        (pairs(100_000), false),
    ] {
        let file = Sources::new().add("case", "");
        assert_eq!(yaml::read(file, &text, &limits).0.is_some(), fits);
        assert_eq!(read::read(file, &text, &limits).0.is_some(), fits);
    }
}

#[test]
fn depth_counts_through_aliases() {
    let deep = format!("a: &a {}{}\n", "[".repeat(60), "]".repeat(60));
    assert_eq!(error(&format!("{deep}b: *a\n")), None);
    let more = format!("{deep}b: {}*a{}\n", "[".repeat(60), "]".repeat(60));
    assert_eq!(error(&more).unwrap().code, &codes::TOO_DEEP);
}

#[test]
fn aliases_add_as_much_as_allowed_and_no_more() {
    let list = format!("a: &a [{}]\n", "x, ".repeat(999));
    // Each copy is a list and its 999 members.
    let copies = |count: usize| format!("{list}b: [{}]\n", "*a, ".repeat(count));
    assert_eq!(error(&copies(100)), None);
    assert_eq!(error(&copies(101)).unwrap().code, &codes::TOO_MANY_ALIASES);
}

#[test]
fn texts_that_grow_without_end_are_refused() {
    let names: Vec<char> = ('a'..='k').collect();
    let mut lists = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
    let mut merges = String::from("a: &a {x: 1, y: 2}\n");
    for pair in names.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let nine = format!("*{from}, ").repeat(9);
        lists += &format!("{to}: &{to} [{nine}]\n");
        merges += &format!("{to}: &{to} {{<<: [{nine}]}}\n");
    }
    assert_eq!(error(&lists).unwrap().code, &codes::TOO_MANY_ALIASES);
    assert_eq!(error(&merges).unwrap().code, &codes::TOO_MANY_ALIASES);
}

#[test]
fn long_chains_of_merge_keys_are_refused() {
    let mut chain = String::from("a0: &a0 {k: v}\n");
    let mut hidden = String::from("- !!str {=: x, k: &b0 {k: v}}\n");
    for n in 0..5000 {
        chain += &format!("a{}: &a{} {{<<: *a{n}, k{n}: 1}}\n", n + 1, n + 1);
        hidden += &format!("- !!str {{=: x, k: &b{} {{<<: *b{n}}}}}\n", n + 1);
    }
    hidden += "- {<<: *b5000}\n";
    assert_eq!(error(&chain).unwrap().code, &codes::TOO_MANY_ALIASES);
    assert_eq!(error(&hidden).unwrap().code, &codes::TOO_DEEP);
}

#[test]
fn an_alias_inside_of_its_anchor_is_refused() {
    for text in ["&a [*a]", "&a {x: *a}", "a: &a\n  b:\n  - *a\n", "&a {<<: *a}"] {
        assert_eq!(error(text).unwrap().code, &codes::NOT_PLAIN_DATA, "{text}");
    }
}

#[test]
fn integers_have_4300_digits_at_most() {
    assert_eq!(error(&format!("a: {}\n", "9".repeat(4300))), None);
    for text in [
        "9".repeat(4301),
        format!("0x{}", "f".repeat(SIZE / 2)),
        format!("1{}", ":59".repeat(9000)),
    ] {
        assert_eq!(error(&format!("a: {text}\n")).unwrap().code, &codes::NOT_PLAIN_DATA);
    }
}

#[test]
fn repeated_keys_are_told_a_hundred_times_at_most() {
    let text = "a: 1\n".repeat(5000);
    let file = Sources::new().add("case", "");
    assert_eq!(yaml::read(file, &text, &Limits::default()).1.len(), 100);
    let text = format!("{{{}\"a\": 1}}", "\"a\": 1, ".repeat(5000));
    assert_eq!(read::read(file, &text, &Limits::default()).1.len(), 100);
}

#[test]
fn messages_are_short_whatever_the_text() {
    let long = "x".repeat(10_000);
    let texts = [
        format!("!{long} a"),
        format!("!{long}!a b"),
        format!("*{long}"),
        format!("- &{long} a\n- &{long} b\n"),
        format!("&{long} [*{long}]"),
        format!("%{long}\n---\n"),
        format!("%TAG !{long}! x\n%TAG !{long}! x\n---\n"),
        format!("!!int {long}"),
        format!("!!bool {long}"),
    ];
    for text in texts {
        assert!(error(&text).unwrap().message.len() < 200, "{}", &text[..10]);
    }
    let text = format!("? {long}\n? {long}\n");
    let file = Sources::new().add("case", "");
    assert!(yaml::read(file, &text, &Limits::default()).1[0].message.len() < 200);
}

/// 64 KiB of each: the test is that they come to an end. A quadratic step would be felt.
#[test]
fn hostile_texts_are_read_in_one_go() {
    let parts = [
        "[",
        "{",
        "- ",
        "? ",
        "&a ",
        "!",
        "'",
        "\"",
        "a",
        " ",
        "\t",
        "\n",
        " a:\n",
        "- a\n",
        "[a,",
        "{a,",
        "{a: b,",
        "*a ",
        ": ",
        "|\n",
        "#",
        "\\",
        "é",
        "a\n",
        "%TAG !a! x\n",
        "---\n",
        "...\n",
        "!!str ",
        "1:",
        "0x",
        "a:",
        "\"\\x41",
        "[? a : b, ",
        "\u{2028}",
        "a\r",
        "-\n",
        ",",
        "<<: ",
    ];
    for part in parts {
        let many = part.repeat(SIZE / 8 / part.len());
        for front in ["", "[", "\"", "a: |\n ", "{a: "] {
            error(&format!("{front}{many}"));
        }
    }
}

#[test]
fn integers_that_could_not_be_written_down_again_are_refused() {
    let sixties = format!("a: {}:1\n", "9".repeat(4_300));
    for text in [format!("a: 0x{}\n", "f".repeat(4_000)), sixties] {
        let (node, found) = kiln_template::read::read(
            kiln_template::FileId::default(),
            &text,
            &kiln_template::Limits::default(),
        );
        assert!(node.is_none());
        assert_eq!(found[0].code, &kiln_template::codes::NOT_PLAIN_DATA);
    }
}
