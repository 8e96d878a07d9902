//! Reading an environment: sections and their types, all errors at once.

use super::Environment;
use super::statement::{self, format_error};
use super::strategy::Strategies;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Map, Node};
use crate::limits::Limits;
use crate::parameters::{SuppliedValue, SuppliedValues};
use crate::read::read;
use crate::source::{FileId, Sources, Span};
use crate::suggest;
use crate::value::Value;
use std::sync::Arc;

/// The prefix of every error in an environment's form.
pub(super) const FORMAT: &str = "Environment not in valid format: ";

const EVENT_SINKS: &str = "event_sinks";
const ENCRYPTED: &str = "encrypted_param_names";
const DEFAULTS: &str = "parameter_defaults";
const STRATEGIES: &str = "parameter_merge_strategies";
const PARAMETERS: &str = "parameters";
const REGISTRY: &str = "resource_registry";

/// The sections of an environment.
pub(crate) const SECTIONS: [&str; 6] =
    [ENCRYPTED, EVENT_SINKS, DEFAULTS, STRATEGIES, PARAMETERS, REGISTRY];

/// The kinds of event sink and the keys each takes, the required ones first.
const SINKS: [(&str, &[&str], &[&str]); 1] = [("zaqar-queue", &["target"], &["ttl"])];

impl Environment {
    /// Reads an environment from its text, JSON or YAML; empty text is an empty environment.
    pub fn read(file: FileId, text: &str, limits: &Limits) -> (Environment, Vec<Diagnostic>) {
        let (node, mut found) = read(file, text, limits);
        // An exceeded limit is reported as such, not as an error of form.
        let form = |fault: &&mut Diagnostic| fault.is_error() && fault.code != &codes::TOO_LARGE;
        for fault in found.iter_mut().filter(form) {
            fault.message = format!("{FORMAT}{}", fault.message);
        }
        let (environment, faults) = node.as_ref().map(Environment::parse).unwrap_or_default();
        found.extend(faults);
        (environment, found)
    }

    /// Reads an environment from its tree; invalid parts are left out and reported.
    pub fn parse(node: &Node) -> (Environment, Vec<Diagnostic>) {
        let (mut environment, mut found) = (Environment::default(), Vec::new());
        match &node.data {
            Data::Null => {}
            Data::Map(map) => {
                for entry in map {
                    environment.take_section(entry, &mut found);
                }
            }
            _ => found.push(
                format_error("The environment is not a valid YAML mapping data type.")
                    .at(node.span)
                    .help(format!(
                        "an environment maps sections to their content: {}",
                        SECTIONS.join(", ")
                    )),
            ),
        }
        (environment, found)
    }

    /// Reads an environment that was stored, or sent as an object: the same without spans.
    ///
    /// Secrets among the values stay secrets.
    pub fn from_value(value: &Value) -> (Environment, Vec<Diagnostic>) {
        let file = Sources::new().add("[environment]", "");
        let (mut environment, mut found) = Environment::parse(&without_places(file, value));
        found.iter_mut().for_each(|fault| fault.labels.clear());
        statement::forget_places(&mut environment.resource_registry);
        let sections = [
            (PARAMETERS, &mut environment.parameters),
            (DEFAULTS, &mut environment.parameter_defaults),
        ];
        for (section, values) in sections {
            let originals = value.as_map().and_then(|map| map.get(section)?.as_map());
            for (name, supplied) in values {
                let original = originals.and_then(|originals| originals.get(name));
                *supplied = original.cloned().unwrap_or(Value::Null).into();
            }
        }
        (environment, found)
    }

    fn take_section(&mut self, entry: &Entry, found: &mut Vec<Diagnostic>) {
        let (key, node) = (&*entry.key, &entry.value);
        if !SECTIONS.contains(&key) {
            return found.push(wrong_section(entry));
        }
        match &node.data {
            Data::Null => found.push(
                format_error(format_args!("environment has empty section \"{key}\""))
                    .at(entry.key_span)
                    .help("remove the section or give it content; `{}` is an empty map"),
            ),
            Data::Map(map) => match key {
                PARAMETERS => self.parameters = values(map),
                DEFAULTS => self.parameter_defaults = values(map),
                REGISTRY => self.resource_registry = statement::read_section(map, found),
                STRATEGIES => self.merge_strategies = Strategies::read(map, found),
                _ => found.push(must_be(&format!("section \"{key}\""), "a list", node)),
            },
            Data::List(items) => match key {
                EVENT_SINKS => self.event_sinks = event_sinks(items, found),
                ENCRYPTED => {
                    self.encrypted_param_names =
                        items.iter().filter_map(Node::as_text).cloned().collect();
                }
                _ => found.push(must_be(&format!("section \"{key}\""), "a map", node)),
            },
            _ => {
                let list = key == EVENT_SINKS || key == ENCRYPTED;
                let kind = if list { "a list" } else { "a map" };
                found.push(must_be(&format!("section \"{key}\""), kind, node));
            }
        }
    }
}

fn values(map: &Map) -> SuppliedValues {
    let supplied = |node: &Node| SuppliedValue { value: node.into(), span: Some(node.span) };
    map.iter().map(|entry| (entry.key.clone(), supplied(&entry.value))).collect()
}

/// The error for something of the wrong kind.
pub(super) fn must_be(what: &str, kind: &str, node: &Node) -> Diagnostic {
    let found = match &node.data {
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::Float(_) => "a number",
        Data::Text(_) => "text",
        Data::List(_) => "a list",
        Data::Map(_) => "a map",
    };
    format_error(format_args!("{what} must be {kind}, found {found}")).at(node.span)
}

fn wrong_section(entry: &Entry) -> Diagnostic {
    let help = suggest::did_you_mean(&entry.key, SECTIONS).unwrap_or_else(|| {
        format!("values go under `{PARAMETERS}`; the sections are: {}", SECTIONS.join(", "))
    });
    format_error(format_args!("environment has wrong section \"{}\"", entry.key))
        .at(entry.key_span)
        .help(help)
}

fn event_sinks(items: &[Node], found: &mut Vec<Diagnostic>) -> Vec<Value> {
    let mut sinks = Vec::with_capacity(items.len());
    for item in items {
        match check_sink(item) {
            Ok(()) => sinks.push(item.into()),
            Err(fault) => found.push(*fault),
        }
    }
    sinks
}

fn check_sink(item: &Node) -> Result<(), Box<Diagnostic>> {
    let refuse = |text: String, node: &Node| {
        let message = format!("{FORMAT}{text}");
        Box::new(
            Diagnostic::error(&codes::BAD_EVENT_SINK, message)
                .at(node.span)
                .help("write `{type: zaqar-queue, target: NAME, ttl: SECONDS}`"),
        )
    };
    let Some(map) = item.as_map() else {
        return Err(refuse("an event sink must be a map".into(), item));
    };
    let Some(kind) = map.get("type") else {
        return Err(refuse("an event sink must have a \"type\"".into(), item));
    };
    let row = SINKS.iter().find(|row| kind.as_text().is_some_and(|text| **text == *row.0));
    let Some((name, required, optional)) = row else {
        let supplied = crate::print::plain(&kind.into());
        return Err(refuse(format!("unknown event sink type \"{supplied}\""), kind));
    };
    if let Some(key) = required.iter().find(|key| map.get(key).is_none_or(Node::is_null)) {
        return Err(refuse(format!("event sink \"{name}\" must have a \"{key}\""), item));
    }
    let known = |key: &str| key == "type" || required.contains(&key) || optional.contains(&key);
    match map.iter().find(|entry| !known(&entry.key)) {
        Some(entry) => {
            let text = format!("event sink \"{name}\" has no \"{}\"", entry.key);
            Err(refuse(text, &Node::new(entry.key_span, Data::Null)))
        }
        None => Ok(()),
    }
}

/// A tree in which every part points to the start of the file; secrets are left out of it.
fn without_places(file: FileId, value: &Value) -> Node {
    let data = match value {
        Value::Null | Value::Unknown(_) | Value::Secret(_) => Data::Null,
        Value::Bool(flag) => Data::Bool(*flag),
        Value::Int(number) => Data::Int(number.clone()),
        Value::Float(number) => Data::Float(*number),
        Value::Text(text) => Data::Text(text.clone()),
        Value::List(items) => {
            Data::List(items.iter().map(|item| without_places(file, item)).collect())
        }
        Value::Map(members) => {
            let entry = |(key, value): (&Arc<str>, &Value)| Entry {
                key: key.clone(),
                key_span: Span::start_of(file),
                value: without_places(file, value),
            };
            Data::Map(Map { entries: members.iter().map(entry).collect() })
        }
    };
    Node::new(Span::start_of(file), data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixture::{any_value, environment, json, parsed};
    use proptest::prelude::*;

    /// Messages, with the line and column of the main place.
    fn faults(text: &str) -> Vec<(String, String, &'static str)> {
        let mut sources = Sources::new();
        let file = sources.add("e", text);
        let (_, found) = Environment::read(file, text, &Limits::default());
        let position = |fault: &Diagnostic| {
            let at = fault.span().and_then(|span| sources.locate(span)).unwrap();
            format!("{}:{}", at.line, at.column)
        };
        found.iter().map(|f| (f.message.clone(), position(f), f.code.kind)).collect()
    }

    #[test]
    fn every_fault_is_told_with_its_place() {
        let bad = "HTTPBadRequest";
        for (text, message, position, kind) in [
            ("parameter: {a: 1}", "environment has wrong section \"parameter\"", "1:1", bad),
            ("parameters:\n", "environment has empty section \"parameters\"", "1:1", bad),
            ("- a\n", "The environment is not a valid YAML mapping data type.", "1:1", bad),
            ("text", "The environment is not a valid YAML mapping data type.", "1:1", bad),
            ("parameters: [1]", "section \"parameters\" must be a map, found a list", "1:13", bad),
            (
                "event_sinks: {a: 1}",
                "section \"event_sinks\" must be a list, found a map",
                "1:14",
                bad,
            ),
            (
                "resource_registry: x",
                "section \"resource_registry\" must be a map, found text",
                "1:20",
                bad,
            ),
            (
                "encrypted_param_names: 5",
                "section \"encrypted_param_names\" must be a list, found a number",
                "1:24",
                bad,
            ),
            (
                "event_sinks: [{type: nope, target: x}]",
                "unknown event sink type \"nope\"",
                "1:22",
                bad,
            ),
            ("event_sinks: [{target: x}]", "an event sink must have a \"type\"", "1:15", bad),
            ("event_sinks: [x]", "an event sink must be a map", "1:15", bad),
            (
                "event_sinks: [{type: zaqar-queue}]",
                "event sink \"zaqar-queue\" must have a \"target\"",
                "1:15",
                bad,
            ),
            (
                "event_sinks: [{type: zaqar-queue, target: x, a: 1}]",
                "event sink \"zaqar-queue\" has no \"a\"",
                "1:46",
                bad,
            ),
            (
                "resource_registry: {A: 5}",
                "entry \"A\" of the resource registry must be text, found a number",
                "1:24",
                bad,
            ),
            (
                "resource_registry: {A: {B: C}}",
                "entry \"A\" of the resource registry must be text, found a map",
                "1:24",
                bad,
            ),
            (
                "resource_registry: {resources: x.yaml}",
                "entry \"resources\" of the resource registry must be a map, found text",
                "1:32",
                bad,
            ),
            (
                "resource_registry: {resources: {a: x.yaml}}",
                "entry \"a\" of the resource registry must be a map, found text",
                "1:36",
                bad,
            ),
            (
                "resource_registry: {resources: {a: {B: [c]}}}",
                "entry \"B\" of the resource registry must be text or a map, found a list",
                "1:40",
                bad,
            ),
        ] {
            let message = format!("Environment not in valid format: {message}");
            assert_eq!(faults(text), [(message, position.to_owned(), kind)], "{text}");
        }
    }

    #[test]
    fn unknown_hooks_and_restrictions_are_refused_in_the_references_words() {
        let hooks = "acceptable hook types are: ('pre-create', 'pre-update', 'pre-delete', \
                     'post-create', 'post-update', 'post-delete')";
        let hook = |supplied: &str| {
            format!("Invalid hook type \"{supplied}\" for resource breakpoint, {hooks}")
        };
        let action = |supplied: &str| {
            format!(
                "Invalid restricted_action type \"{supplied}\" for resource, \
                 acceptable restricted_action types are: ('update', 'replace')"
            )
        };
        for (inside, message, position, kind) in [
            ("hooks: before-create", hook("before-create"), "1:44", "InvalidBreakPointHook"),
            (
                "hooks: [pre-create, x]",
                hook("['pre-create', 'x']"),
                "1:57",
                "InvalidBreakPointHook",
            ),
            ("hooks: {a: 1}", hook("{'a': 1}"), "1:44", "InvalidBreakPointHook"),
            ("hooks: 5", hook("5"), "1:44", "InvalidBreakPointHook"),
            (
                "restricted_actions: [replace, delete]",
                action("['replace', 'delete']"),
                "1:67",
                "InvalidRestrictedAction",
            ),
            (
                "w: {restricted_actions: delete}",
                action("delete"),
                "1:61",
                "InvalidRestrictedAction",
            ),
        ] {
            let text = format!("resource_registry: {{resources: {{v: {{{inside}}}}}}}");
            assert_eq!(faults(&text), [(message, position.to_owned(), kind)], "{text}");
        }
        assert_eq!(faults("resource_registry: {hooks: zzz}")[0].2, "InvalidBreakPointHook");
        environment(
            "resource_registry: {resources: {v: {hooks: [], restricted_actions: [update, replace]}}}",
        );
    }

    #[test]
    fn all_faults_are_told_at_once_and_the_rest_is_read() {
        let text = "parameters: {a: 1}\nparameter_default: {}\nevent_sinks:\nresource_registry: {A: 1, B: b.yaml}\n";
        let (environment, found) = parsed(text);
        let helps: Vec<_> = found.iter().map(|fault| fault.help.as_deref().unwrap()).collect();
        assert_eq!(helps[0], "did you mean `parameter_defaults`?");
        assert_eq!(found.len(), 3);
        assert_eq!(environment.parameters.len(), 1);
        assert_eq!(
            environment.resource_registry.keys().map(|key| &**key).collect::<Vec<_>>(),
            ["B"]
        );
    }

    #[test]
    fn text_that_cannot_be_read_is_refused_as_an_environment() {
        let (_, found) = parsed("parameters: {a: [}\n");
        assert_eq!(found.len(), 1);
        assert!(
            found[0].message.starts_with("Environment not in valid format: "),
            "{}",
            found[0].message
        );
        assert_eq!(found[0].code.kind, "HTTPBadRequest");
    }

    #[test]
    fn empty_environments_are_fine() {
        for text in ["", "{}", "null", "# nothing\n", "parameters: {}\nevent_sinks: []\n"] {
            assert_eq!(environment(text), Environment::default(), "{text:?}");
        }
    }

    #[test]
    fn values_keep_their_places_and_nulls() {
        let text = "parameters:\n  a: [1, two]\n  b: ~\nparameter_defaults: {c: x}\n";
        let mut sources = Sources::new();
        let file = sources.add("e", text);
        let (environment, _) = Environment::read(file, text, &Limits::default());
        let snippet =
            |supplied: &SuppliedValue| sources.snippet(supplied.span.unwrap()).unwrap().to_owned();
        assert_eq!(snippet(&environment.parameters["a"]), "[1, two]");
        assert_eq!(snippet(&environment.parameter_defaults["c"]), "x");
        assert!(environment.parameters["b"].value.is_null());
    }

    #[test]
    fn a_stored_environment_is_read_back_with_its_secrets() {
        use crate::value::Secret;
        let text = r#"{"parameters": {"a": "x"}, "parameter_defaults": {"b": [1]},
            "resource_registry": {"A": "b.yaml", "resources": {"r": {"hooks": ["pre-create"]}}},
            "event_sinks": [{"type": "zaqar-queue", "target": "q", "ttl": 60}],
            "encrypted_param_names": ["a"]}"#;
        let mut original = environment(text);
        original.parameters["a"].value = Value::Secret(Secret::new("x".into()));
        let stored = original.to_value();
        let (again, found) = Environment::from_value(&stored);
        assert_eq!(found, []);
        assert!(matches!(again.parameters["a"].value, Value::Secret(_)));
        assert_eq!(json(&again.to_value()), json(&stored));
        assert_eq!(again.parameters["a"].span, None);
        let (_, found) = Environment::from_value(&Value::map([("zz", Value::Null)]));
        assert_eq!(
            found[0].message,
            "Environment not in valid format: environment has wrong section \"zz\""
        );
        assert_eq!(found[0].labels, []);
    }

    proptest! {
        #[test]
        fn no_tree_makes_an_environment_panic(value in any_value(), name in ".{0,8}", ty in ".{0,8}") {
            let (environment, _) = Environment::from_value(&value);
            let registry = environment.registry(Default::default());
            _ = registry.resolve(&ty, Some(&name), &|_| false);
            _ = registry.resolve("A::B", Some("resources"), &|name| name == "OS::Heat::None");
            _ = (registry.hooks(&name), registry.restricted_actions(&name));
            let child = registry.child("resources", None);
            _ = child.resolve("a.yaml", Some(&name), &|_| false);
            let stored = environment.to_value();
            let (again, found) = Environment::from_value(&stored);
            prop_assert_eq!(found, vec![]);
            prop_assert_eq!(again.to_value(), stored);
        }
    }
}
