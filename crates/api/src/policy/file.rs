//! Rules of files in place of the built-in ones.

use super::PolicyText;
use super::error::PolicyError;
use super::eval::is_attribute;
use super::language::{Check, Mistake};
use super::rules::{Rule, Rules, Tangle};
use kiln_template::document::{Data, Entry, Node};
use kiln_template::read::read;
use kiln_template::{Diagnostic, Limits, Sources, Span};
use std::collections::HashSet;
use std::sync::Arc;

/// Replaces the rules of the same names by those of files, one file after the other; returns warnings.
pub(super) fn replace(
    rules: &mut Rules,
    files: &[PolicyText],
) -> Result<Vec<PolicyError>, Vec<PolicyError>> {
    let mut reading = Reading { sources: Sources::new(), errors: Vec::new(), warnings: Vec::new() };
    let mut documents = Vec::new();
    for PolicyText { name, text } in files {
        let id = reading.sources.add(name.as_str(), text.as_str());
        let (document, findings) = read(id, text, &Limits::default());
        findings.iter().for_each(|finding| reading.found(finding));
        documents.extend(document);
    }
    let mut entries: Vec<&Entry> = Vec::new();
    for document in &documents {
        for entry in reading.entries(document) {
            if let Some(check) = reading.check(entry) {
                let (scopes, built_in) = rules
                    .get(&entry.key)
                    .map_or((&[][..], false), |rule| (rule.scopes, rule.built_in));
                rules.insert(&entry.key, Rule { check, scopes, built_in });
            }
            entries.push(entry);
        }
    }
    // Rules of different files may need each other, so the set is checked once it is complete.
    let mut names = HashSet::new();
    entries.reverse();
    entries.retain(|entry| names.insert(&*entry.key));
    entries.reverse();
    reading.untangle(rules, &entries);
    reading.doubts(rules, &entries);
    if reading.errors.is_empty() { Ok(reading.warnings) } else { Err(reading.errors) }
}

struct Reading {
    sources: Sources,
    errors: Vec<PolicyError>,
    warnings: Vec<PolicyError>,
}

impl Reading {
    /// The findings of the parser.
    fn found(&mut self, finding: &Diagnostic) {
        let error = PolicyError {
            place: finding.span().and_then(|span| self.sources.locate(span)),
            rule: None,
            message: finding.message.clone(),
            help: if finding.is_error() {
                "write it as YAML or JSON: one line `\"rule\": \"check\"` for each rule".into()
            } else {
                "keep one of them".into()
            },
        };
        if finding.is_error() { self.errors.push(error) } else { self.warnings.push(error) }
    }

    fn entries<'a>(&mut self, document: &'a Node) -> &'a [Entry] {
        match &document.data {
            Data::Null => &[],
            Data::Map(map) => &map.entries,
            _ => {
                let message = "the file is not a map of rules";
                let help = "write one line `\"rule\": \"check\"` for each rule";
                self.wrong(document.span, None, message, help);
                &[]
            }
        }
    }

    fn wrong(&mut self, at: Span, rule: Option<&str>, message: &str, help: &str) {
        let error = self.error(at, rule, message.to_owned(), help);
        self.errors.push(error);
    }

    fn error(&self, at: Span, rule: Option<&str>, message: String, help: &str) -> PolicyError {
        PolicyError {
            place: self.sources.locate(at),
            rule: rule.map(str::to_owned),
            message,
            help: help.to_owned(),
        }
    }

    /// The check of a rule; none if it is invalid, which is reported.
    fn check(&mut self, entry: &Entry) -> Option<Check> {
        let Entry { key, value, .. } = entry;
        match &value.data {
            Data::Text(text) if text.is_empty() && !self.is_quoted(value.span) => {
                let help = "write \"@\" to allow everybody, \"!\" to allow nobody, with the quotes";
                self.wrong(value.span, Some(key), "the check is empty without quotes", help);
                None
            }
            Data::Text(text) => self.parsed(key, value.span, text, Check::parse),
            Data::List(any) => self.lists(key, any),
            _ => {
                let message = "the check is neither text nor a list";
                let help = "write \"@\" to allow everybody, \"!\" to allow nobody, with the quotes";
                self.wrong(value.span, Some(key), message, help);
                None
            }
        }
    }

    /// The older form: one of the lists must hold, and of it everything.
    fn lists(&mut self, rule: &str, any: &[Node]) -> Option<Check> {
        if any.is_empty() {
            return Some(Check::Always);
        }
        let mut checks = Vec::new();
        for node in any {
            let all = match &node.data {
                Data::List(all) => all,
                _ => std::slice::from_ref(node),
            };
            if all.is_empty() {
                continue;
            }
            let all: Option<Vec<_>> = all.iter().map(|node| self.list_member(rule, node)).collect();
            checks.push(Check::all(all?));
        }
        Some(if checks.is_empty() { Check::Never } else { Check::any(checks) })
    }

    fn list_member(&mut self, rule: &str, node: &Node) -> Option<Check> {
        match &node.data {
            Data::Text(text) => self.parsed(rule, node.span, text, Check::parse_single),
            _ => {
                let message = "a list of checks holds something that is not text";
                self.wrong(node.span, Some(rule), message, "write a check such as \"role:member\"");
                None
            }
        }
    }

    fn parsed(
        &mut self,
        rule: &str,
        span: Span,
        text: &Arc<str>,
        parse: fn(&str) -> Result<Check, Mistake>,
    ) -> Option<Check> {
        let mistake = match parse(text) {
            Ok(check) => return Some(check),
            Err(mistake) => mistake,
        };
        self.wrong(self.inside(span, text, mistake.at), Some(rule), &mistake.message, mistake.help);
        None
    }

    /// The place of a byte of a text that stands in the file; where it begins if the file spells it otherwise.
    fn inside(&self, span: Span, text: &str, at: usize) -> Span {
        let written = self.sources.snippet(span).and_then(|raw| raw.find(text));
        let offset = written.map_or(0, |from| u32::try_from(from + at).unwrap_or(0));
        let start = span.start.saturating_add(offset);
        Span { start, end: start }
    }

    fn is_quoted(&self, span: Span) -> bool {
        self.sources.snippet(span).is_some_and(|raw| raw.contains(['"', '\'']))
    }

    fn untangle(&mut self, rules: &Rules, entries: &[&Entry]) {
        for tangle in rules.tangles() {
            let (names, message, help) = match tangle {
                Tangle::Circle(names) => {
                    let message = format!("it needs its own answer: {}", names.join(" -> "));
                    (names, message, "have one of them say what it asks without the others")
                }
                Tangle::TooLong(name) => {
                    let message = "it leads through too many other rules".to_owned();
                    (vec![name], message, "have it say what it asks with fewer `rule:`")
                }
            };
            let place = entries.iter().find(|entry| names.iter().any(|name| **name == *entry.key));
            let rule = place.map_or(names.first().map(|name| &**name), |entry| Some(&*entry.key));
            let error = PolicyError {
                place: place.and_then(|entry| self.sources.locate(entry.key_span)),
                rule: rule.map(str::to_owned),
                message,
                help: help.to_owned(),
            };
            self.errors.push(error);
        }
    }

    /// A usable rule that is probably a mistake.
    fn doubts(&mut self, rules: &Rules, entries: &[&Entry]) {
        let mut used = HashSet::new();
        for name in rules.names() {
            let Some(rule) = rules.get(name) else { continue };
            rule.check.visit(&mut |leaf| {
                if let Check::Rule(named) = leaf {
                    used.insert(&**named);
                }
            });
        }
        for entry in entries {
            let Some(rule) = rules.get(&entry.key) else { continue };
            let known = rule.built_in
                || used.contains(&*entry.key)
                || *entry.key == *rules.default_rule()
                || entry.key.starts_with("resource_types:");
            if !known {
                let message = "nothing asks for this rule".to_owned();
                let help = "compare its name with the list of rules, or remove it";
                self.warnings.push(self.error(entry.key_span, Some(&entry.key), message, help));
            }
            rule.check.visit(&mut |leaf| {
                let (message, help) = match leaf {
                    Check::Rule(name) if rules.get(name).is_none() => (
                        format!("there is no rule `{name}`"),
                        "correct the name, or write such a rule",
                    ),
                    Check::Attribute(name, _) if !is_attribute(name) => {
                        let message = format!("nothing called `{name}` is known of callers");
                        (message, "use user_id, project_id, domain_id, roles or another attribute")
                    }
                    _ => return,
                };
                self.warnings.push(self.error(entry.value.span, Some(&entry.key), message, help));
            });
        }
    }
}
