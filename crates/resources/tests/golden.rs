//! Every declared schema against the facts, field by field and both ways.
//!
//! `facts/types.json` is made by `xtask facts` from the record of the reference and leaves out what is
//! as usual; the record itself, where it is at hand, says everything. Both are read by the same code:
//! what is absent is as usual.

use kiln_resources::constraints;
use kiln_resources::declare::{Abilities, ResourceType, Value};
use kiln_resources::environment::MAPPINGS;
use kiln_resources::registry::Registry;
use kiln_template::Rule;
use kiln_template::schema::{Attribute, Cache, Inner, Property, Status, Support};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::PathBuf;

/// Types that older releases had, and for which there is no record of the present one.
const OLDER: [&str; 1] = ["OS::Heat::CWLiteAlarm"];

/// Types that do again what they did in older releases; the present one only lets them go.
const REVIVED: [&str; 1] = ["OS::Heat::HARestarter"];

fn is_of_this_release(kind: &&ResourceType) -> bool {
    !OLDER.contains(&kind.name())
}

#[test]
fn declared_types_agree_with_our_facts() {
    let facts = read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/facts/types.json").into());
    let mut differences = Differences::default();
    differences.types(&facts["types"], Registry::builtin().iter().filter(is_of_this_release));
    differences.same_names(
        "checks",
        constraints::NAMES.into_iter(),
        facts["constraints"].as_array().into_iter().flatten().filter_map(Json::as_str),
    );
    let mappings: Vec<_> = MAPPINGS.iter().map(|m| (m.name, json!(m.target))).collect();
    let aliases = facts["aliases"].as_object().into_iter().flatten();
    differences.check("aliases", mappings, aliases.map(|(n, t)| (n.as_str(), t.clone())).collect());
    differences.assert_none();
}

#[test]
fn declared_types_agree_with_the_record_of_the_reference() {
    let Some(path) = crate::shared("facts/resource_types.json") else {
        eprintln!("the record is not at hand; our own copy has been compared");
        return;
    };
    let facts = read(path);
    let mut differences = Differences { full: true, ..Differences::default() };
    let declared = Registry::builtin().iter().filter(is_of_this_release);
    let declared = declared.filter(|kind| kind.template.is_none());
    differences.types(&facts["types"], declared);
    let templates = facts["environment_mappings"].as_object().into_iter().flatten();
    let templates: Vec<_> = templates.filter(|(_, m)| m.get("api_schema").is_some()).collect();
    differences.same_names(
        "types with a template",
        Registry::builtin().iter().filter(|kind| kind.template.is_some()).map(|kind| kind.name()),
        templates.into_iter().map(|(name, _)| name.as_str()),
    );
    differences.assert_none();
}

#[test]
fn the_types_that_the_reference_lists_are_those_that_are_not_hidden() {
    let Some(path) = crate::shared("facts/resource_types_visible.json") else {
        eprintln!("the record is not at hand; our own copy has been compared");
        return;
    };
    let facts = read(path);
    let listed = facts["admin"].as_array().into_iter().flatten().filter_map(Json::as_str);
    for name in listed {
        let status = Registry::builtin().get(name).map(|kind| kind.schema.support.status);
        assert!(status.is_some_and(|status| status != Status::Hidden), "{name}: {status:?}");
    }
}

/// A file of the folder that is shared beside the project, if it is there.
fn read(path: PathBuf) -> Json {
    let text = std::fs::read_to_string(&path).expect("a readable file");
    serde_json::from_str(&text).expect("a JSON document")
}

/// What was declared otherwise than the facts say, a line each.
#[derive(Default)]
struct Differences {
    found: Vec<String>,
    /// Whether the facts are the full record, which knows of classes but not of update policies.
    full: bool,
}

impl Differences {
    fn assert_none(self) {
        assert!(
            self.found.is_empty(),
            "differences, {}:\n{}",
            self.found.len(),
            self.found.join("\n")
        );
    }

    fn check<T: PartialEq + Debug>(&mut self, place: &str, declared: T, fact: T) {
        if declared != fact {
            self.found.push(format!("{place}: declared {declared:?}, should be {fact:?}"));
        }
    }

    fn check_json(&mut self, place: &str, declared: &Json, fact: &Json) {
        if declared != fact {
            self.found.push(format!("{place}: declared {declared}, should be {fact}"));
        }
    }

    fn same_names<'a>(
        &mut self,
        place: &str,
        declared: impl Iterator<Item = &'a str>,
        facts: impl Iterator<Item = &'a str>,
    ) {
        let declared: BTreeSet<_> = declared.collect();
        let facts: BTreeSet<_> = facts.collect();
        for name in declared.difference(&facts) {
            self.found.push(format!("{place}: {name} is declared and should not be"));
        }
        for name in facts.difference(&declared) {
            self.found.push(format!("{place}: {name} is not declared"));
        }
    }

    fn types<'a>(
        &mut self,
        facts: &Json,
        declared: impl Iterator<Item = &'a ResourceType> + Clone,
    ) {
        self.same_names("types", declared.clone().map(|kind| kind.name()), names(facts));
        for kind in declared.filter(|kind| !REVIVED.contains(&kind.name())) {
            if let Some(fact) = facts.get(kind.name()) {
                self.one_type(kind, fact);
            }
        }
    }

    fn one_type(&mut self, kind: &ResourceType, fact: &Json) {
        let at = |what: &str| format!("{}.{what}", kind.name());
        let schema = &kind.schema;
        let client = fact["default_client_name"].as_str();
        // The reference reaches networks through two client libraries.
        let project = client.map(|name| if name == "openstack" { "neutron" } else { name });
        self.check(&at("service"), kind.service.map(|service| service.project()), project);
        self.check(&at("entity"), kind.entity.as_deref(), fact["entity"].as_str());
        let extension = fact["required_service_extension"].as_str();
        self.check(&at("extension"), kind.extension.as_deref(), extension);
        let limit = fact["physical_resource_name_limit"].as_u64().unwrap_or(255);
        self.check(&at("name_limit"), kind.name_limit as u64, limit);
        // What a template stands behind is a nested stack, and can do what stacks can.
        let is_template = kind.template.is_some();
        self.check(&at("nested"), kind.nested, is_template || flag(fact, "nested_stack", false));
        let replace = flag(fact, "always_replace_on_check_failed", true);
        self.check(&at("replace_on_failed_check"), kind.replace_on_failed_check, replace);
        let refresh = flag(fact, "signal_needs_metadata_updates", true);
        self.check(&at("signal_refreshes_metadata"), kind.signal_refreshes_metadata, refresh);
        let silent = fact.get("no_signal_actions").cloned().unwrap_or(json!(["SUSPEND", "DELETE"]));
        self.check_json(&at("no_signal_actions"), &json!(kind.no_signal_actions), &silent);
        if !is_template {
            self.check(&at("abilities"), kind.abilities, abilities(&fact["supports"]));
        }
        self.support(&at("support"), &schema.support, &fact["support_status"]);
        self.check(&at("placeholder"), kind.placeholder, schema.any_property);
        if self.full {
            let placeholder =
                lists(&fact["mro"], "NoneResource") || kind.name() == "OS::Heat::None";
            self.check(&at("any_property"), schema.any_property, placeholder);
            let dynamic = lists(&fact["overrides"], "get_attribute");
            self.check(&at("dynamic_attributes"), schema.dynamic_attributes, dynamic);
        } else {
            self.check(&at("any_property"), schema.any_property, flag(fact, "any_property", false));
            let dynamic = flag(fact, "dynamic_attributes", false);
            self.check(&at("dynamic_attributes"), schema.dynamic_attributes, dynamic);
            let snapshots = flag(fact, "snapshot_on_delete", false);
            self.check(&at("snapshots"), schema.snapshots, snapshots);
            self.check(&at("successor"), kind.successor.as_deref(), fact["successor"].as_str());
            self.check(&at("template"), kind.template.as_deref(), fact["template"].as_str());
            self.properties(&at("update_policy"), &schema.update_policy, &fact["update_policy"]);
        }
        self.properties(&at("properties"), &schema.properties, &fact["properties"]);
        self.attributes(&at("attributes"), &schema.attributes, &fact["attributes"]);
    }

    fn properties(&mut self, place: &str, declared: &[Property], facts: &Json) {
        self.same_names(place, declared.iter().map(|p| p.name.as_ref()), names(facts));
        for property in declared {
            if let Some(fact) = facts.get(property.name.as_ref()) {
                self.property(&format!("{place}.{}", property.name), property, fact);
            }
        }
    }

    fn property(&mut self, place: &str, property: &Property, fact: &Json) {
        let at = |what: &str| format!("{place}.{what}");
        self.check(&at("type"), Some(property.kind.name()), fact["type"].as_str());
        self.check(&at("required"), property.required, flag(fact, "required", false));
        let updatable = flag(fact, "update_allowed", false);
        self.check(&at("update_allowed"), property.update_allowed, updatable);
        self.check(&at("immutable"), property.immutable, flag(fact, "immutable", false));
        self.check(&at("implemented"), property.implemented, flag(fact, "implemented", true));
        let default = property.default.as_ref().map(plain);
        self.check(&at("default"), default.as_ref(), fact.get("default"));
        let rules: Json = property.constraints.iter().map(|c| rule(&c.rule)).collect();
        let expected = fact.get("constraints").cloned().unwrap_or(json!([]));
        self.check_json(&at("constraints"), &rules, &expected);
        self.support(&at("support"), &property.support, &fact["support_status"]);
        let schema = &fact["schema"];
        match &property.inner {
            Inner::Free => self.check_json(&at("schema"), &Json::Null, schema),
            Inner::Members(members) => self.properties(place, members, schema),
            Inner::Each(item) => {
                self.same_names(place, ["*"].into_iter(), names(schema));
                self.check(&at("*.name"), item.name.as_ref(), "");
                self.property(&at("*"), item, &schema["*"]);
            }
        }
    }

    fn attributes(&mut self, place: &str, declared: &[Attribute], facts: &Json) {
        self.same_names(place, declared.iter().map(|a| a.name.as_ref()), names(facts));
        for attribute in declared {
            let Some(fact) = facts.get(attribute.name.as_ref()) else { continue };
            let at = |what: &str| format!("{place}.{}.{what}", attribute.name);
            let kind = attribute.kind.map(|kind| kind.name());
            self.check(&at("type"), kind, fact["type"].as_str());
            let cache = match fact["cache_mode"].as_str() {
                Some("cache_none") => Cache::None,
                _ => Cache::Local,
            };
            self.check(&at("cache"), attribute.cache, cache);
            self.support(&at("support"), &attribute.support, &fact["support_status"]);
        }
    }

    /// Messages are our own and not compared.
    fn support(&mut self, place: &str, declared: &Support, fact: &Json) {
        let status = fact["status"].as_str().unwrap_or("SUPPORTED");
        self.check(&format!("{place}.status"), declared.status.name(), status);
        let version = fact["version"].as_str();
        self.check(&format!("{place}.version"), declared.version.as_deref(), version);
        match (&declared.previous, &fact["previous_status"]) {
            (None, Json::Null) => (),
            (Some(previous), Json::Object(_)) => {
                self.support(&format!("{place}.previous"), previous, &fact["previous_status"]);
            }
            (declared, fact) => self.found.push(format!("{place}: before {declared:?}, {fact}")),
        }
    }
}

fn names(facts: &Json) -> impl Iterator<Item = &str> {
    facts.as_object().into_iter().flatten().map(|(name, _)| name.as_str())
}

fn flag(fact: &Json, key: &str, usual: bool) -> bool {
    fact.get(key).and_then(Json::as_bool).unwrap_or(usual)
}

fn lists(fact: &Json, word: &str) -> bool {
    fact.as_array().is_some_and(|words| words.iter().any(|w| w == word))
}

/// The abilities, written as a list of what can be done or as a flag for each.
fn abilities(fact: &Json) -> Abilities {
    let able = |word: &str| lists(fact, word) || flag(fact, word, false);
    Abilities {
        check: able("check"),
        drift: able("observe_reality"),
        restore: able("restore"),
        resume: able("resume"),
        signal: able("signal"),
        snapshot: able("snapshot"),
        suspend: able("suspend"),
    }
}

fn rule(rule: &Rule) -> Json {
    let bounds = |min: Option<Json>, max: Option<Json>| -> Json {
        let bounds = [("min", min), ("max", max)];
        bounds.into_iter().filter_map(|(name, bound)| Some((name.to_owned(), bound?))).collect()
    };
    match rule {
        Rule::Length { min, max } => {
            json!({ "length": bounds(min.map(Json::from), max.map(Json::from)) })
        }
        Rule::Range { min, max } => {
            json!({ "range": bounds(min.as_ref().map(plain), max.as_ref().map(plain)) })
        }
        Rule::Modulo { step, offset } => json!({ "modulo": { "step": step, "offset": offset } }),
        Rule::AllowedValues(values) => {
            json!({ "allowed_values": values.iter().map(plain).collect::<Json>() })
        }
        Rule::AllowedPattern(pattern) => json!({ "allowed_pattern": pattern.source() }),
        Rule::Custom(name) => json!({ "custom_constraint": name }),
    }
}

fn plain(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => json!(flag),
        Value::Int(number) => json!(number.as_i64().expect("a small number")),
        Value::Float(number) => json!(number),
        Value::Text(text) => json!(text.as_ref()),
        Value::List(items) => items.iter().map(plain).collect(),
        Value::Map(members) => members.iter().map(|(k, v)| (k.to_string(), plain(v))).collect(),
        Value::Unknown(_) | Value::Secret(_) => panic!("no fact is unknown or hidden"),
    }
}
