//! What is said of texts: the place, the problem, what it belongs to and what to do.

use kiln_template::document::Data;
use kiln_template::{Diagnostic, Limits, Sources, codes, read, yaml};

fn findings(text: &str) -> Vec<Diagnostic> {
    read::read(Sources::new().add("case", text), text, &Limits::default()).1
}

/// The one error of a text: line, column, message, what it belongs to, and the first words of help.
fn reported(text: &str) -> (u32, u32, String, String, String) {
    let mut sources = Sources::new();
    let file = sources.add("case", text);
    let (node, findings) = read::read(file, text, &Limits::default());
    assert!(node.is_none(), "{text:?} is read");
    let error = findings.last().unwrap();
    let position = sources.locate(error.span().unwrap()).unwrap();
    let context = error.labels.get(1).map_or("", |label| &label.text);
    let help = error.help.clone().unwrap_or_default();
    let help: Vec<&str> = help.split(' ').take(5).collect();
    (position.line, position.column, error.message.clone(), context.into(), help.join(" "))
}

#[track_caller]
fn check(text: &str, at: (u32, u32), message: &str, context: &str, help: &str) {
    let (line, column, parts_present, belongs, helped) = reported(text);
    assert_eq!(
        ((line, column), &*parts_present, &*belongs, &*helped),
        (at, message, context, help),
        "{text:?}"
    );
}

#[test]
fn the_usual_mistakes_are_named() {
    let tab = "expected a value or a key, found a tab, which cannot begin one";
    check("a:\n\tb: 1\n", (2, 1), tab, "", "indent with spaces; tabs cannot");
    let percent = "expected a value or a key, found `%`, which cannot begin one";
    check("a: %x\n", (1, 4), percent, "", "put the text in quotes:");
    let colon = "a value (`: `) cannot begin here: there is no key in front of it";
    check("a: b: c\n", (1, 5), colon, "", "put the value in quotes");
    check("a:\n  b:1\n  c: 2\n", (3, 4), colon, "", "put a space after the");
    check(
        "a: 1\nb\nc: 2\n",
        (3, 1),
        "expected `:` after a key",
        "the key",
        "indent the members of one",
    );
    check(
        "a: 1\nb:2\nc: 2\n",
        (3, 1),
        "expected `:` after a key",
        "the key",
        "put a space after the",
    );
    let key = "expected a key or the end of the map, found a map";
    check("a:\n  b: 1\n c: 2\n", (3, 2), key, "the map", "indent the members of one");
    let quote = "expected a closing quote, found the end of the text";
    check("a: \"x\nb: 1\n", (3, 1), quote, "the quote opens here", "close the quote, or double");
    let comma = "expected `,` or `]`, found `:`";
    check("a: [b\nc: d\n", (2, 2), comma, "the list", "look for a missing comma");
    let braces = "a list or a map cannot be a key";
    check("a: {{ x }}\n", (1, 5), braces, "", "put text that begins with");
    let text = "expected a key or the end of the map, found text";
    check("a: {{ x }} y\n", (1, 12), text, "the map", "put text that begins with");
    let escape = "a backslash with a character that makes no escape";
    check("a: \"C:\\dir\"\n", (1, 7), escape, "the quoted text", "double the backslash, or use");
    let header = "expected a comment or a line break, found `x`";
    check("a: |x\n", (1, 5), header, "the block of text", "begin the text on the");
}

#[test]
fn text_that_looks_like_json_is_told_about_as_json_too() {
    let findings = findings("{\"a\": 1,\n \"b\" 2}\n");
    let last = findings.last().unwrap();
    assert!(last.labels.iter().any(|label| label.text == "as JSON: expected `:`, found `2`"));
}

#[test]
fn control_characters_are_refused_with_their_place() {
    let message = "the character U+0007 is not allowed";
    check("a: 1\nb: \u{7}\n", (2, 4), message, "", "in double quotes, write it");
    check("a\0", (1, 2), "the character U+0000 is not allowed", "", "in double quotes, write it");
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let file = Sources::new().add("case", "");
    for (bytes, at) in
        [(&b"a: \xFF"[..], 3), (b"\xC3", 0), (b"\xFF\xFEa", 2), (b"\xFF\xFE\x00\xD8", 2)]
    {
        let (node, findings) = read::read_bytes(file, bytes, &Limits::default());
        assert!(node.is_none());
        assert_eq!(findings[0].code, &codes::SYNTAX);
        assert_eq!(findings[0].span().unwrap().start, at, "{bytes:?}");
    }
}

#[test]
fn repeated_keys_are_warned_of_and_merged_ones_are_not() {
    let text = "a: &a {x: 1}\nb: {<<: *a, x: 2}\nc: {1: x, '1': y}\na: 3\n";
    let (node, findings) = yaml::read(Sources::new().add("case", text), text, &Limits::default());
    assert!(node.is_some());
    let positions: Vec<Vec<u32>> =
        findings.iter().map(|f| f.labels.iter().map(|l| l.span.start).collect()).collect();
    assert_eq!(positions, [vec![41, 35], vec![49, 0]]);
    assert!(findings.iter().all(|f| f.code == &codes::DUPLICATE_KEY && !f.is_error()));
}

#[test]
fn values_that_templates_cannot_hold_are_refused_with_their_place() {
    for text in ["a: !!binary aGk=\n", "a: !!set {x}\n", "a: !foo x\n", "a: <<\n", "a: !!int x\n"] {
        let finding = findings(text).pop().unwrap();
        assert_eq!(finding.code, &codes::NOT_PLAIN_DATA, "{text}");
        assert!(finding.span().unwrap().start > 2, "{text}");
    }
}

#[test]
fn json_comes_first() {
    // As YAML the first is text, the second a problem, the third a key without a value.
    for (text, data) in
        [("1e3", Data::Float(1000.0)), ("{\"a\"\t:\t1}", Data::Null), ("{\"a\":1}", Data::Null)]
    {
        let file = Sources::new().add("case", text);
        let (node, findings) = read::read(file, text, &Limits::default());
        assert_eq!(findings, []);
        let node = node.unwrap();
        match &node.data {
            Data::Map(map) => assert_eq!(map.get("a").unwrap().data, Data::Int(1.into())),
            read => assert_eq!(*read, data),
        }
    }
}

#[test]
fn no_text_is_null() {
    for text in ["", "\n", "# nothing\n", "\u{feff}"] {
        let file = Sources::new().add("case", text);
        let (node, findings) = read::read(file, text, &Limits::default());
        assert_eq!((node.unwrap().data, findings), (Data::Null, vec![]));
    }
}

#[test]
fn full_width_signs_are_named() {
    let (_, _, _, _, help) = reported("properties:\n  length: ｛ get_param: x ｝\n");
    assert_eq!(help, "`｛` is a full-width character:");
    let (_, _, _, _, help) = reported("parameters：\r\n  x: {type: string}\n");
    assert_eq!(help, "`：` is a full-width character:");
    // Letters of any script are text as ever.
    let (_, _, _, _, help) = reported("a: 名 b: ｃ\n");
    assert_eq!(help, "put the value in quotes");
}
