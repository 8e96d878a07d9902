//! Several environment files into one.
//!
//! Clients merge trees deeply ([`merge_on_client`]). The service merges the files that a request
//! names in `environment_files` by section and strategy ([`merge_files`]); then the plain
//! `environment` of the request is ignored.

use super::combine::combine;
use super::strategy::{Strategies, Strategy};
use super::{Environment, Setting};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Map, Node};
use crate::limits::Limits;
use crate::parameters::{ParameterType, SuppliedValue, SuppliedValues};
use crate::source::{Sources, Span};
use indexmap::IndexMap;
use std::sync::Arc;

/// Merges trees of environments in order: maps recursively, all else is replaced.
///
/// A null never replaces a map. Every part keeps its span in its own file.
pub fn merge_on_client(trees: impl IntoIterator<Item = Node>) -> Option<Node> {
    trees.into_iter().reduce(|old, new| match (old.data, new.data) {
        (Data::Map(into), Data::Map(from)) => {
            Node::new(old.span, Data::Map(merge_trees(into, from)))
        }
        (data, Data::Null) => Node::new(old.span, data),
        (_, data) => Node::new(new.span, data),
    })
}

fn merge_trees(old: Map, new: Map) -> Map {
    let mut entries: IndexMap<Arc<str>, Entry> =
        old.entries.into_iter().map(|entry| (entry.key.clone(), entry)).collect();
    for mut entry in new.entries {
        match (entries.get_mut(&entry.key).map(|old| &mut old.value.data), &mut entry.value.data) {
            (Some(Data::Map(_)), Data::Null) => continue,
            (Some(Data::Map(into)), Data::Map(from)) => {
                *from = merge_trees(std::mem::take(into), std::mem::take(from));
            }
            _ => {}
        }
        entries.insert(entry.key.clone(), entry);
    }
    Map { entries: entries.into_values().collect() }
}

/// Reads the files that `environment_files` names and merges them; see [`merge_files`].
///
/// `text_of` is the request's `files`.
pub fn read_files(
    names: &[Arc<str>],
    text_of: &dyn Fn(&str) -> Option<Arc<str>>,
    request: SuppliedValues,
    kind_of: &dyn Fn(&str) -> Option<ParameterType>,
    sources: &mut Sources,
    limits: &Limits,
) -> (Environment, Vec<Diagnostic>) {
    let (mut read, mut found) = (Vec::with_capacity(names.len()), Vec::new());
    for name in names {
        let Some(text) = text_of(name) else {
            let message = format!("The environment file \"{name}\" is not among the files sent.");
            let fault = Diagnostic::error(&codes::ENVIRONMENT_FILE_MISSING, message);
            found.push(fault.help("send its content in `files` under exactly this name"));
            continue;
        };
        let file = sources.add(name.clone(), text.clone());
        let (environment, faults) = Environment::read(file, &text, limits);
        found.extend(faults);
        read.push((name.clone(), environment));
    }
    let (merged, faults) = merge_files(request, &read, kind_of);
    found.extend(faults);
    (merged, found)
}

/// Merges environment files in order over the request's own parameters.
///
/// `kind_of` returns the types of the parameters declared in the root template and in every
/// template among the files. While a section is still empty, a file's is taken whole, undeclared
/// names and all; after that, undeclared names and nulls are passed over.
pub fn merge_files(
    request: SuppliedValues,
    files: &[(Arc<str>, Environment)],
    kind_of: &dyn Fn(&str) -> Option<ParameterType>,
) -> (Environment, Vec<Diagnostic>) {
    let mut merged = Environment { parameters: request, ..Environment::default() };
    let mut merger = Merger { kind_of, strategies: IndexMap::new(), found: Vec::new() };
    for (name, file) in files {
        let strategies = &file.merge_strategies;
        merger.merge(&mut merged.parameters, &file.parameters, strategies, name);
        merger.merge(&mut merged.parameter_defaults, &file.parameter_defaults, strategies, name);
        let whole = merged.resource_registry.is_empty();
        for (key, statement) in &file.resource_registry {
            if whole || statement.setting != Setting::Remove {
                merged.resource_registry.insert(key.clone(), statement.clone());
            }
        }
        if merged.event_sinks.is_empty() {
            merged.event_sinks.clone_from(&file.event_sinks);
        } else if !file.event_sinks.is_empty() {
            let message = format!("The event sinks of file '{name}' are ignored.");
            let fault = Diagnostic::warning(&codes::BAD_EVENT_SINK, message);
            merger.found.push(
                fault.help("only the first file with event sinks is used: list all of them there"),
            );
        }
        if merged.encrypted_param_names.is_empty() {
            merged.encrypted_param_names.clone_from(&file.encrypted_param_names);
        }
    }
    (merged, merger.found)
}

/// Merging under way.
struct Merger<'a> {
    kind_of: &'a dyn Fn(&str) -> Option<ParameterType>,
    /// The strategy of each parameter, from the first file that sets it, and its span.
    strategies: IndexMap<Arc<str>, (Strategy, Option<Span>)>,
    found: Vec<Diagnostic>,
}

impl Merger<'_> {
    fn merge(
        &mut self,
        into: &mut SuppliedValues,
        from: &SuppliedValues,
        strategies: &Strategies,
        file: &str,
    ) {
        let whole = into.is_empty();
        if whole {
            into.clone_from(from);
        }
        for (name, supplied) in from {
            let Some(kind) = (self.kind_of)(name).filter(|_| !supplied.value.is_null()) else {
                continue;
            };
            let strategy = self.strategy(name, strategies, file);
            if whole {
                continue;
            }
            let Some(old) = into.get(name) else {
                into.insert(name.clone(), supplied.clone());
                continue;
            };
            match combine(kind, strategy, &old.value, &supplied.value) {
                Some(value) => {
                    into.insert(name.clone(), SuppliedValue { value, span: supplied.span });
                }
                None => self.found.push(does_not_fit(strategy, name, supplied, old.span)),
            }
        }
    }

    /// The strategy for a parameter, settled by the first file; another named later is rejected.
    fn strategy(&mut self, name: &Arc<str>, strategies: &Strategies, file: &str) -> Strategy {
        let (here, position) = (strategies.get(name), strategies.span_of(name));
        let (settled, first) = *self.strategies.entry(name.clone()).or_insert((here, position));
        if here != settled
            && let Some(position) = position
        {
            let word = here.name();
            let message = format!(
                "Conflicting merge strategy '{word}' for parameter '{name}' in file '{file}'."
            );
            let mut fault =
                Diagnostic::error(&codes::MERGE_STRATEGY_CONFLICT, message).at(position);
            if let Some(first) = first {
                fault = fault.label(first, format!("`{}` was named here", settled.name()));
            }
            self.found.push(fault.help(format!(
                "earlier files use `{}`: name the same strategy in every file",
                settled.name()
            )));
        }
        settled
    }
}

fn does_not_fit(
    strategy: Strategy,
    name: &str,
    supplied: &SuppliedValue,
    earlier: Option<Span>,
) -> Diagnostic {
    let message = format!("Invalid merge strategy '{}' for parameter '{name}'.", strategy.name());
    let mut fault = Diagnostic::error(&codes::MERGE_STRATEGY_INVALID, message);
    if let Some(span) = supplied.span {
        fault = fault.at(span);
        if let Some(earlier) = earlier {
            fault = fault.label(earlier, "cannot be merged with this value");
        }
    }
    fault.help("only texts, lists and maps can be merged; use `overwrite` for other types")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixture::{environment, json};
    use crate::value::Value;

    fn kind_of(name: &str) -> Option<ParameterType> {
        Some(match name {
            "s" => ParameterType::String,
            "l" => ParameterType::CommaDelimitedList,
            "j" => ParameterType::Json,
            "n" => ParameterType::Number,
            "b" => ParameterType::Boolean,
            _ => return None,
        })
    }

    fn merged(request: &str, files: &[&str]) -> (Environment, Vec<Diagnostic>) {
        let name = |i| Arc::from(format!("f{i}"));
        let read = files.iter().zip(0..).map(|(text, i)| (name(i), environment(text)));
        let request = environment(&format!("parameters: {request}")).parameters;
        merge_files(request, &read.collect::<Vec<_>>(), &kind_of)
    }

    fn section(values: &SuppliedValues) -> String {
        json(&Value::map(
            values.iter().map(|(name, supplied)| (name.clone(), supplied.value.clone())),
        ))
    }

    /// The merged parameters, or the first error.
    fn parameters(request: &str, files: &[&str]) -> String {
        let (environment, found) = merged(request, files);
        match found.first() {
            Some(fault) => fault.message.clone(),
            None => section(&environment.parameters),
        }
    }

    #[test]
    fn files_merge_as_the_reference_merges_them() {
        let conflict =
            |s: &str| format!("Conflicting merge strategy '{s}' for parameter 's' in file 'f1'.");
        for (one, two, expected) in [
            ("{parameters: {s: a}}", "{parameters: {s: b}}", r#"{"s": "b"}"#),
            ("{parameters: {s: a, n: 1}}", "{parameters: {s: b}}", r#"{"s": "b", "n": 1}"#),
            // The first file that brings a parameter settles its strategy.
            (
                "{parameters: {s: a}}",
                "{parameters: {s: b}, parameter_merge_strategies: {default: merge}}",
                r#"{"s": "b"}"#,
            ),
            (
                "{parameters: {s: a}, parameter_merge_strategies: {default: merge}}",
                "{parameters: {s: b}}",
                r#"{"s": "ab"}"#,
            ),
            (
                "{parameters: {s: a}, parameter_merge_strategies: {s: merge}}",
                "{parameters: {s: b}, parameter_merge_strategies: {default: overwrite}}",
                r#"{"s": "ab"}"#,
            ),
            (
                "{parameters: {s: a}, parameter_merge_strategies: {default: merge}}",
                "{parameters: {s: b}, parameter_merge_strategies: {default: overwrite, s: merge}}",
                r#"{"s": "ab"}"#,
            ),
            (
                "{parameters: {s: a}, parameter_merge_strategies: {s: merge}}",
                "{parameters: {s: b}, parameter_merge_strategies: {s: overwrite}}",
                &conflict("overwrite"),
            ),
            (
                "{parameters: {s: a}}",
                "{parameters: {s: b}, parameter_merge_strategies: {s: merge}}",
                &conflict("merge"),
            ),
            (
                "{parameters: {s: a}, parameter_merge_strategies: {default: merge}}",
                "{parameter_defaults: {s: b}, parameter_merge_strategies: {s: deep_merge}}",
                &conflict("deep_merge"),
            ),
            (
                "{parameters: {l: a}, parameter_merge_strategies: {s: merge}}",
                "{parameters: {s: b}, parameter_merge_strategies: {s: deep_merge}}",
                r#"{"l": "a", "s": "b"}"#,
            ),
            // Nulls and undeclared names.
            ("{parameters: {s: ~, l: x}}", "{parameters: {s: b}}", r#"{"s": "b", "l": "x"}"#),
            ("{parameters: {s: a}}", "{parameters: {s: ~}}", r#"{"s": "a"}"#),
            ("{parameters: {zz: a}}", "{parameters: {s: b}}", r#"{"zz": "a", "s": "b"}"#),
            ("{parameters: {s: b}}", "{parameters: {zz: a}}", r#"{"s": "b"}"#),
            ("{parameters: {}}", "{parameters: {zz: 1}}", r#"{"zz": 1}"#),
            // A value that is replaced is not checked.
            ("{parameters: {j: {a: 1}}}", "{parameters: {j: bad}}", r#"{"j": "bad"}"#),
            ("{parameters: {l: [a]}}", "{parameters: {l: 5}}", r#"{"l": 5}"#),
        ] {
            assert_eq!(parameters("{}", &[one, two]), expected, "{one} {two}");
        }
    }

    #[test]
    fn an_unknown_strategy_falls_back_on_the_file_s_default_and_is_warned_about() {
        let file = |value: &str| {
            format!(
                "{{parameters: {{s: {value}}}, parameter_merge_strategies: {{s: zz, default: merge}}}}"
            )
        };
        let files: Vec<_> = ["a", "b"]
            .iter()
            .zip(0..)
            .map(|(value, i)| {
                let (environment, found) = crate::environment::fixture::parsed(&file(value));
                assert_eq!(found.len(), 1);
                assert!(!found[0].is_error());
                (Arc::from(format!("f{i}")), environment)
            })
            .collect();
        let (environment, found) = merge_files(SuppliedValues::new(), &files, &kind_of);
        assert_eq!((section(&environment.parameters).as_str(), found), (r#"{"s": "ab"}"#, vec![]));
    }

    #[test]
    fn files_beat_the_request_and_merge_with_it() {
        assert_eq!(parameters("{s: req}", &["parameters: {s: file}"]), r#"{"s": "file"}"#);
        let merge = "{parameters: {s: a}, parameter_merge_strategies: {default: merge}}";
        assert_eq!(parameters("{s: r}", &[merge]), r#"{"s": "ra"}"#);
        // With values in the request, no file's section is taken whole.
        assert_eq!(parameters("{s: r}", &["parameters: {zz: a}"]), r#"{"s": "r"}"#);
    }

    #[test]
    fn a_value_that_cannot_be_merged_is_refused() {
        let file = |n: &str| {
            format!("{{parameters: {{n: {n}}}, parameter_merge_strategies: {{n: merge}}}}")
        };
        let (environment, found) = merged("{}", &[&file("1"), &file("2")]);
        assert_eq!(found[0].message, "Invalid merge strategy 'merge' for parameter 'n'.");
        assert_eq!(found[0].code.kind, "InvalidMergeStrategyForParam");
        assert_eq!(found[0].labels.len(), 2);
        assert_eq!(section(&environment.parameters), r#"{"n": 1}"#);
    }

    #[test]
    fn other_sections_are_updated_by_their_members() {
        let (environment, found) = merged(
            "{}",
            &[
                "{resource_registry: {A: B, C: D, resources: {a: {X: Y}}}, event_sinks: []}",
                "{resource_registry: {A: E, C: ~, resources: {b: {X: Y}}}, event_sinks: [{type: zaqar-queue, target: q}]}",
                "{event_sinks: [{type: zaqar-queue, target: r}]}",
            ],
        );
        assert_eq!(
            json(&environment.to_value().as_map().unwrap()["resource_registry"]),
            r#"{"resources": {"b": {"X": "Y"}}, "A": "E", "C": "D"}"#
        );
        assert_eq!(environment.event_sinks.len(), 1);
        assert_eq!(found.len(), 1);
        assert!(!found[0].is_error());
    }

    #[test]
    fn defaults_of_nested_templates_are_merged_too() {
        let (environment, _) = merged(
            "{}",
            &[
                "{parameter_defaults: {l: 'a,b'}, parameter_merge_strategies: {l: merge}}",
                "{parameter_defaults: {l: c}, parameter_merge_strategies: {l: merge}}",
            ],
        );
        assert_eq!(section(&environment.parameter_defaults), r#"{"l": "a,b,c"}"#);
    }

    #[test]
    fn a_named_file_that_was_not_sent_is_refused() {
        let text_of = |name: &str| (name == "e1").then(|| Arc::from("params: {}\n"));
        let names = [Arc::from("e1"), Arc::from("e2")];
        let mut sources = Sources::new();
        let (_, found) = read_files(
            &names,
            &text_of,
            SuppliedValues::new(),
            &kind_of,
            &mut sources,
            &Limits::default(),
        );
        let reported: Vec<_> = found.iter().map(|fault| fault.message.as_str()).collect();
        assert_eq!(
            reported,
            [
                "Environment not in valid format: environment has wrong section \"params\"",
                "The environment file \"e2\" is not among the files sent."
            ]
        );
    }

    #[test]
    fn clients_merge_maps_deeply_and_replace_the_rest() {
        let tree = |text: &str| {
            let file = Sources::new().add("e", text);
            crate::read::read(file, text, &Limits::default()).0.unwrap()
        };
        for (one, two, expected) in [
            (
                "{a: 1, m: {x: 1, y: {z: 1}}, l: [1], n: {q: 1}}",
                "{a: 2, m: {y: {w: 2}}, l: [2], n: ~, k: ~}",
                r#"{"a": 2, "m": {"x": 1, "y": {"z": 1, "w": 2}}, "l": [2], "n": {"q": 1}, "k": null}"#,
            ),
            ("{m: 1, s: [1]}", "{m: {x: 1}, s: ~}", r#"{"m": {"x": 1}, "s": null}"#),
            ("{n: {x: 1}}", "{n: 5}", r#"{"n": 5}"#),
            ("{a: 1}", "", r#"{"a": 1}"#),
            ("", "{a: 1}", r#"{"a": 1}"#),
        ] {
            let merged = merge_on_client([tree(one), tree(two)]).unwrap();
            assert_eq!(json(&Value::from(&merged)), expected);
        }
        assert_eq!(merge_on_client([]), None);
    }
}
