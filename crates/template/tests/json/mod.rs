//! The JSON reader: against recorded answers of Python's `json.loads`, and on its own terms.

use kiln_template::document::{Data, Node};
use kiln_template::print::{self, Keys};
use kiln_template::{Diagnostic, Limits, Sources, Value, codes, json};
use kiln_yaql::Integer;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

#[test]
fn our_cases_come_out_as_in_the_reference() {
    let mut wrong = Vec::new();
    for line in include_str!("cases.jsonl").lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let text = case["json"].as_str().unwrap();
        let (node, findings) = read(text);
        let ours = node.as_ref().map(printed);
        if ours.as_ref() != case.get("value") {
            wrong.push(format!("{text:?}: ours {ours:?}, reference {case}, {findings:?}"));
        }
        assert_eq!(node.is_none(), findings.iter().any(Diagnostic::is_error), "{text:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_node_and_key_has_its_span() {
    let text = r#" {"a": [1, "é"], "b":{} } "#;
    let mut sources = Sources::new();
    let file = sources.add("a.json", text);
    let root = json::read(file, text, &Limits::default()).0.unwrap();
    let parts_present = |node: &Node| sources.snippet(node.span).unwrap().to_owned();
    assert_eq!(parts_present(&root), text.trim());
    let map = root.as_map().unwrap();
    assert_eq!(sources.snippet(map.entries[0].key_span), Some("\"a\""));
    let list = map.get("a").unwrap();
    assert_eq!(parts_present(list), "[1, \"é\"]");
    assert_eq!(parts_present(&list.as_list().unwrap()[1]), "\"é\"");
    assert_eq!(parts_present(map.get("b").unwrap()), "{}");
}

#[test]
fn a_repeated_key_is_told_with_both_places() {
    let (node, findings) = read(r#"{"a": 1, "b": 2, "a": 3}"#);
    let map = node.unwrap();
    let map = map.as_map().unwrap();
    assert_eq!(&*map.entries[0].key, "a");
    assert_eq!(map.entries[0].value.data, Data::Int(3.into()));
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(finding.code, &codes::DUPLICATE_KEY);
    assert!(!finding.is_error());
    let positions: Vec<u32> = finding.labels.iter().map(|label| label.span.start).collect();
    assert_eq!(positions, [17, 1]);
}

#[test]
fn half_a_character_is_refused() {
    for text in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\u0041""#, r#""\ud800x""#] {
        let (node, findings) = read(text);
        assert!(node.is_none(), "{text}");
        assert_eq!(findings[0].code, &codes::NOT_PLAIN_DATA, "{text}");
        assert_eq!(findings[0].span().unwrap().start, 1, "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(100)).0.is_some());
    for text in [nested(101), "[".repeat(500_000), "{\"a\":".repeat(100_000)] {
        assert_eq!(read(&text).1[0].code, &codes::TOO_DEEP);
    }
}

#[test]
fn problems_name_the_place_and_what_was_expected() {
    let cases = [
        ("[1 2]", 3, "expected `,` or `]`, found `2`"),
        ("{\"a\" 1}", 5, "expected `:`, found `1`"),
        ("{a: 1}", 1, "expected a key in double quotes, found `a`"),
        ("[1,]", 3, "expected a value, found `]`"),
        ("1 x", 2, "expected the end of the document, found `x`"),
        ("\"a", 0, "the text has no closing quote"),
        ("\"a\u{7}\"", 2, "a control character (U+0007) inside quotes"),
        ("[", 1, "expected a value, found the end"),
    ];
    for (text, at, message) in cases {
        let finding = &read(text).1[0];
        assert_eq!((finding.span().unwrap().start, &*finding.message), (at, message), "{text}");
    }
}

fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    json::read(Sources::new().add("case", text), text, &Limits::default())
}

/// A tree in the form of the recorded values.
fn printed(node: &Node) -> Json {
    match &node.data {
        Data::Null => Json::Null,
        Data::Bool(flag) => json!(flag),
        Data::Int(number) => json!({ "int": number.to_string() }),
        Data::Float(number) => json!({ "float": kiln_yaql::python::float(*number) }),
        Data::Text(text) => json!(&**text),
        Data::List(items) => items.iter().map(printed).collect(),
        Data::Map(map) => {
            let pairs: Vec<Json> =
                map.iter().map(|e| json!([&*e.key, printed(&e.value)])).collect();
            json!({ "map": pairs })
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[1-9][0-9]{18,40}".prop_map(|digits| Value::Int(Integer::parse(&digits).unwrap())),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::list),
            prop::collection::vec((any::<String>(), inner), 0..8).prop_map(Value::map),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(value in any_value()) {
        let text = print::json(&value, Keys::Ordered);
        let (node, findings) = read(&text);
        prop_assert_eq!(findings, vec![]);
        prop_assert_eq!(Value::from(&node.unwrap()), value);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn no_text_that_looks_like_json_makes_the_reader_panic(
        text in "[\\[\\]{}:,\"\\\\ \nud8cx0-9.eE+nulltrueéNaI-]{0,60}",
    ) {
        let (node, findings) = read(&text);
        prop_assert_eq!(node.is_none(), findings.iter().any(Diagnostic::is_error));
    }
}
