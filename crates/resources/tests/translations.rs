//! What of properties is rewritten before use, against the facts, both ways.
//!
//! `facts/translations.json` has the rules of the reference, type by type, by path and rule; paths pass
//! over the members of lists. Rules for properties that a type does not have are left out: they never
//! apply.

use kiln_resources::registry::Registry;
use kiln_template::schema::{Inner, Property, Takes};
use kiln_template::{Members, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// The reference looks up none of the names of this type, which shares its properties with its successor.
const FINDS_MORE: &str = "OS::Magnum::BayModel";

#[test]
fn declared_rewriting_agrees_with_our_facts() {
    let text = include_str!("facts/translations.json");
    let facts: Json = serde_json::from_str(text).expect("a JSON document");
    let facts: BTreeSet<(String, String)> = facts
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(kind, rules)| {
            let rules = rules.as_array().into_iter().flatten();
            rules.map(|rule| (kind.clone(), rule.to_string()))
        })
        .collect();
    let mut declared = BTreeSet::new();
    for kind in Registry::builtin().iter().filter(|kind| kind.name() != FINDS_MORE) {
        let mut rules = Vec::new();
        collect(&kind.schema.properties, "", &mut rules);
        declared.extend(rules.iter().map(|rule| (kind.name().to_owned(), rule.to_string())));
    }
    let missing: Vec<_> = facts.difference(&declared).collect();
    let surplus: Vec<_> = declared.difference(&facts).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "missing {missing:#?}, surplus {surplus:#?}");
    assert_eq!(facts.len(), 114);
}

#[test]
fn what_is_taken_stands_beside_what_takes_it() {
    for kind in Registry::builtin().iter() {
        visit(&kind.schema.properties, &mut |beside| {
            for property in beside {
                let Some(takes) = &property.rewriting.takes else { continue };
                let place = format!("{}.{}", kind.name(), property.name);
                let older = beside.iter().find(|p| p.name == takes.older());
                let older = older.unwrap_or_else(|| panic!("{place}: {takes:?} is not there"));
                match takes {
                    Takes::Value(path) if path.contains('.') => assert!(older.rewriting.dropped),
                    // The checks of the older one go unasked: those of the newer say as much.
                    Takes::Value(_) => {
                        assert_eq!(older.kind, property.kind, "{place}");
                        assert!(older.default.is_none() && !older.required, "{place}");
                    }
                    Takes::Member { .. } => assert!(older.default.is_none(), "{place}"),
                }
            }
        });
    }
}

fn visit(properties: &[Property], seen: &mut impl FnMut(&[Property])) {
    seen(properties);
    for property in properties {
        let mut at = &property.inner;
        while let Inner::Each(item) = at {
            at = &item.inner;
        }
        if let Inner::Members(members) = at {
            visit(members, seen);
        }
    }
}

/// The rules of properties, in the form of the facts.
fn collect(properties: &[Property], above: &str, rules: &mut Vec<Json>) {
    for property in properties {
        let path = format!("{above}{}", property.name);
        let rewriting = &property.rewriting;
        match &rewriting.takes {
            None => {}
            Some(Takes::Value(older)) => {
                rules.push(json!({ "from": older, "path": path, "rule": "replace" }));
            }
            Some(Takes::Member { older, key }) => {
                rules.push(match key {
                    None => json!({ "from": older, "path": path, "rule": "add" }),
                    Some((key, others)) => json!({
                        "from": older,
                        "key": key,
                        "others": plain(others),
                        "path": path,
                        "rule": "add",
                    }),
                });
                rules.push(json!({ "path": format!("{above}{older}"), "rule": "delete" }));
            }
        }
        if rewriting.dropped {
            rules.push(json!({ "path": path, "rule": "delete" }));
        }
        collect_found(property, &path, rules);
        inside(property, &format!("{path}."), rules);
    }
}

/// What is looked up: the property itself, or the members of a list.
fn collect_found(property: &Property, path: &str, rules: &mut Vec<Json>) {
    if let Some(object) = &property.rewriting.finds {
        rules.push(json!({ "finds": object, "path": path, "rule": "resolve" }));
    }
    if let Inner::Each(item) = &property.inner {
        collect_found(item, path, rules);
    }
}

fn inside(property: &Property, above: &str, rules: &mut Vec<Json>) {
    match &property.inner {
        Inner::Free => {}
        Inner::Each(item) => inside(item, above, rules),
        Inner::Members(members) => collect(members, above, rules),
    }
}

fn plain(members: &Members) -> Json {
    let numbers = members.iter().map(|(name, value)| match value {
        Value::Int(number) => (name.to_string(), json!(number.as_i64().expect("a small number"))),
        other => panic!("{name} is {other:?}"),
    });
    numbers.collect()
}
