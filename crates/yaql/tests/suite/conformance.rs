//! The shared conformance cases, where they are at hand.

use crate::json;
use kiln_yaql::{Data, Expression, Options, Value, regex};
use serde_json::Value as Json;
use std::path::PathBuf;

/// The folder of shared cases.
fn folder() -> Option<PathBuf> {
    #[allow(clippy::disallowed_methods)]
    let shared = std::env::var("KILN_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let folder = shared.join("conformance/templates");
    folder.is_dir().then_some(folder)
}

#[test]
fn shared_cases_are_answered() {
    let Some(folder) = folder() else {
        eprintln!("no shared conformance cases here");
        return;
    };
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("yaql") || !name.ends_with(".json") {
            continue;
        }
        let case: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let Some(outputs) = case["template"]["outputs"].as_object() else {
            continue;
        };
        for (output, definition) in outputs {
            checked += usize::from(check(&name, output, &definition["value"], &case["expect"]));
        }
    }
    assert!(checked > 150, "only {checked} shared cases could be checked");
}

/// Checks one output; false if it needs more than this crate.
fn check(file: &str, output: &str, value: &Json, expect: &Json) -> bool {
    let Some(call) = value.get("yaql") else {
        return false;
    };
    let data = call.get("data").cloned().unwrap_or_else(|| serde_json::json!({}));
    let intrinsic = ["get_param", "get_attr", "get_resource", "list_join", "yaql"];
    if intrinsic.iter().any(|name| data.to_string().contains(&format!("\"{name}\""))) {
        return false;
    }
    let Some(text) = call["expression"].as_str() else {
        return false;
    };
    let expected = expect["outputs"].get(output);
    let error = expect["output_errors"].get(output);
    if expected.is_none() && error.is_none() {
        return false;
    }
    let root = Value::map([("data", json::value(&data))]);
    let result = Expression::parse(text)
        .and_then(|expression| expression.evaluate(root, &Options::default()))
        .and_then(|value| value.to_data());
    match (result, expected, error) {
        (Ok(found), Some(expected), _) => {
            assert!(same(&found, expected), "{file} {output}: {text}: {found:?}, not {expected}");
        }
        (Err(found), _, Some(pattern)) => {
            let pattern = regex::compile(pattern.as_str().unwrap()).unwrap();
            let found = found.to_string();
            assert!(pattern.is_match(&found).unwrap(), "{file} {output}: {text}: {found}");
        }
        (found, ..) => panic!("{file} {output}: {text}: {found:?}"),
    }
    true
}

/// Lists made of sets have no order.
fn same(found: &Data, expected: &Json) -> bool {
    let found = json::plain(found);
    if found == *expected {
        return true;
    }
    match (&found, expected) {
        (Json::Array(a), Json::Array(b)) => {
            let sorted = |items: &[Json]| {
                let mut texts: Vec<String> = items.iter().map(Json::to_string).collect();
                texts.sort();
                texts
            };
            sorted(a) == sorted(b)
        }
        _ => false,
    }
}
