//! Expressions with the answers the reference gave: every line of `cases.jsonl` over `data.json`.

use crate::json;
use kiln_yaql::{Expression, Options, Value};
use serde_json::Value as Json;

#[test]
fn every_recorded_answer_is_given() {
    let data: Json = serde_json::from_str(include_str!("../data.json")).unwrap();
    let root = Value::map([("data", json::value(&data))]);
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("../cases.jsonl").lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let text = case["expression"].as_str().unwrap();
        let parsed = Expression::parse(text);
        let syntax = parsed.is_err();
        let result = parsed.and_then(|e| e.evaluate(root.clone(), &Options::default()));
        let right = match (&result, case.get("error")) {
            (Ok(value), None) => same(&json::tagged(value), &case["value"]),
            (Err(error), Some(message)) => {
                error.to_string() == *message && syntax == case.get("syntax").is_some()
            }
            _ => false,
        };
        if !right {
            wrong.push(format!("{text}\n  {case}\n  {result:?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1500, "only {count} cases");
}

/// Equality that sees the order of keys too.
fn same(found: &Json, expected: &Json) -> bool {
    let printed = |json: &Json| serde_json::to_string(json).unwrap();
    printed(found) == printed(expected)
}

/// Where this crate does better than the reference, or cannot do the same.
#[test]
fn known_differences_stay_as_they_are() {
    for (text, expected) in [
        // Named groups break selectors in the reference.
        (r#"regex("(?P<n>a)").search("za", $n.start)"#, "1"),
        // Views of keys lack the methods of sets there.
        ("{a => 1}.keys().union(set(b)).len()", "2"),
        // Constants given to `call` where an expression is expected are those constants.
        ("call(coalesce, [null, 2], {})", "2"),
        // There are no complex numbers here.
        ("pow(-8, 0.5)", "a negative number cannot be raised to a fractional power"),
        // Names of characters would need a large table.
        (r"'\N{BULLET}'", r"Characters by name are not supported; use \u or \U with the code"),
        // The reference shows an address in memory.
        ("[1].select($).foo()", "Unknown method \"foo\" for receiver <generator object>"),
    ] {
        let result = Expression::parse(text)
            .and_then(|e| e.evaluate(Value::Null, &Options::default()))
            .map_or_else(|error| error.to_string(), |value| json::tagged(&value).to_string());
        assert_eq!(result, expected, "{text}");
    }
}
