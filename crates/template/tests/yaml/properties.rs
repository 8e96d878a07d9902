//! What holds for any text.

use kiln_template::document::{Data, Node};
use kiln_template::{Diagnostic, FileId, Limits, Sources, read, yaml};
use proptest::prelude::*;

fn file() -> FileId {
    Sources::new().add("case", "")
}

/// Spans are pieces of the text, and members lie inside of what they belong to, unless they were
/// brought in from elsewhere.
fn check_spans(node: &Node, text: &str) {
    let piece = |start: u32, end: u32| text.get(start as usize..end as usize);
    assert!(piece(node.span.start, node.span.end).is_some());
    match &node.data {
        Data::List(items) => items.iter().for_each(|item| check_spans(item, text)),
        Data::Map(map) => {
            for entry in map {
                assert!(piece(entry.key_span.start, entry.key_span.end).is_some());
                check_spans(&entry.value, text);
            }
        }
        _ => {}
    }
}

fn check(text: &str) {
    let (node, findings) = read::read(file(), text, &Limits::default());
    assert_eq!(node.is_none(), findings.iter().any(Diagnostic::is_error));
    if let Some(node) = &node {
        check_spans(node, text);
    }
    for finding in &findings {
        assert!(!finding.labels.is_empty());
        let ends = finding.labels.iter().map(|label| (label.span.start, label.span.end));
        ends.for_each(|(start, end)| assert!(text.get(start as usize..end as usize).is_some()));
    }
    let events: Vec<_> = yaml::events(text).collect();
    assert!(events.iter().rev().skip(1).all(Result::is_ok));
}

/// Pieces that mean something to the grammar.
const PIECES: &[&str] = &[
    "a",
    "b",
    "1",
    " ",
    "  ",
    "\n",
    "\n  ",
    ":",
    ": ",
    "- ",
    "-",
    "? ",
    "?",
    ",",
    "[",
    "]",
    "{",
    "}",
    "#",
    " #",
    "&a ",
    "*a",
    "!",
    "!!str ",
    "!!int ",
    "!!omap ",
    "!x ",
    "|",
    ">",
    "|-\n",
    ">2\n",
    "'",
    "\"",
    "%",
    "@",
    "`",
    "\t",
    "\r\n",
    "\r",
    "---",
    "...",
    "\n---\n",
    "%YAML 1.1\n",
    "%TAG ! x\n",
    "<<: ",
    "=",
    "~",
    "true",
    "1.5",
    "1:30",
    "\\",
    "\\x41",
    "\\\n",
    "é",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "😀",
    "a: b",
    "\n- ",
    "\u{7}",
    "\0",
];

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn no_text_of_indicators_makes_the_reader_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
    ) {
        check(&pieces.concat());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in any::<Vec<u8>>()) {
        let (node, findings) = read::read_bytes(file(), &bytes, &Limits::default());
        prop_assert_eq!(node.is_none(), findings.iter().any(Diagnostic::is_error));
    }

    #[test]
    fn utf_16_says_the_same_as_utf_8(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..20),
        big in any::<bool>(),
    ) {
        let text = pieces.concat();
        let unit = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        let marked = std::iter::once(0xFEFF).chain(text.encode_utf16());
        let bytes: Vec<u8> = marked.flat_map(unit).collect();
        let file = file();
        prop_assert_eq!(&*read::decode(file, &bytes).unwrap(), &*text);
        let limits = Limits::default();
        prop_assert_eq!(
            format!("{:?}", read::read_bytes(file, &bytes, &limits)),
            format!("{:?}", read::read(file, &text, &limits))
        );
    }
}
