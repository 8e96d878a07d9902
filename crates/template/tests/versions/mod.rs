//! Every version against the facts: its functions, its sections, its words.

use kiln_template::version::{self, Meaning, Position, Version};
use kiln_template::{DeletionPolicy, functions};
use serde_json::Value as Json;
use std::collections::BTreeSet;

fn facts() -> Json {
    serde_json::from_str(include_str!("facts.json")).unwrap()
}

fn texts(list: &Json) -> BTreeSet<&str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

fn each(check: impl Fn(Version, &Json)) {
    let facts = facts();
    assert_eq!(facts.as_object().map(|facts| facts.len()), Some(version::ALL.len()));
    for row in &version::ALL {
        check(row.version, &facts[format!("{}.{}", row.key, row.date)]);
    }
}

#[test]
fn versions_have_exactly_their_functions() {
    each(|version, facts| {
        let values: BTreeSet<&str> = version.functions(Position::Value).map(|f| f.name).collect();
        assert_eq!(values, texts(&facts["functions"]), "{version:?}");
        let conditions: BTreeSet<&str> =
            version.functions(Position::Condition).map(|f| f.name).collect();
        assert_eq!(conditions, texts(&facts["condition_functions"]), "{version:?}");
        let removed: BTreeSet<&str> = functions::ALL
            .iter()
            .map(|function| function.name)
            .filter(|name| matches!(version.meaning(name, Position::Value), Meaning::Removed(_)))
            .collect();
        assert_eq!(removed, texts(&facts["removed_functions"]), "{version:?}");
    });
}

#[test]
fn versions_have_exactly_their_sections_and_aliases() {
    each(|version, facts| {
        for name in texts(&facts["sections"]) {
            assert!(version.has_section(name), "{version:?} {name}");
        }
        let wanted = texts(&facts["sections"]);
        assert!(version.sections().all(|name| wanted.contains(name)), "{version:?}");
        let aliases: BTreeSet<&str> = version.info().alias.into_iter().collect();
        assert_eq!(aliases, texts(&facts["alias"]), "{version:?}");
    });
}

#[test]
fn versions_know_exactly_their_deletion_policies() {
    each(|version, facts| {
        let policies = facts["deletion_policies"].as_object().unwrap();
        for text in ["Delete", "Retain", "Snapshot", "delete", "retain", "snapshot", "DELETE"] {
            let known = DeletionPolicy::parse(text, version).map(DeletionPolicy::name);
            assert_eq!(known, policies.get(text).and_then(Json::as_str), "{version:?} {text}");
        }
    });
}
