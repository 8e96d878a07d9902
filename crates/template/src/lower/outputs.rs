//! Output definitions of both dialects.

use super::Lowering;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Entry, Node};
use crate::findings::Stage;
use crate::path::Path;
use crate::source::Span;
use crate::template::{Output, Spanned};
use crate::value::Value;
use indexmap::IndexMap;
use std::sync::Arc;

impl Lowering {
    pub(super) fn outputs(&mut self, node: &Node) -> IndexMap<Arc<str>, Output> {
        let name = self.version.words().outputs;
        let Some(map) = self.section_map(node, name, Stage::OutputDefinitions) else {
            return IndexMap::new();
        };
        let mut outputs = IndexMap::with_capacity(map.len());
        for entry in map {
            if let Some(output) = self.output(entry) {
                outputs.insert(entry.key.clone(), output);
            }
        }
        outputs
    }

    fn output(&mut self, entry: &Entry) -> Option<Output> {
        let words = self.version.words();
        let Some(map) = entry.value.as_map() else {
            let kind = Value::from(&entry.value).host_type();
            let message = format!("Output definitions must be a map. Found a {kind} instead");
            self.refuse_output(entry, message, entry.value.span);
            return None;
        };
        let Some(value) = map.get(words.value) else {
            let message = format!("Each output definition must contain a {} key.", words.value);
            self.refuse_output(entry, message, entry.key_span);
            return None;
        };
        let mut known = vec![words.description, words.value];
        let has_conditions = self.version.has_conditions();
        if has_conditions {
            known.push(words.condition);
        }
        let unknown_keys = map
            .iter()
            .filter(|member| !known.contains(&&*member.key))
            .map(|member| Spanned { value: member.key.clone(), span: member.key_span });
        Some(Output {
            name: entry.key.clone(),
            name_span: entry.key_span,
            value: self.value(value),
            description: map.get(words.description).map(Value::from),
            condition: map
                .get(words.condition)
                .filter(|_| has_conditions)
                .map(|node| self.condition(node)),
            unknown_keys: unknown_keys.collect(),
        })
    }

    fn refuse_output(&mut self, entry: &Entry, message: String, span: Span) {
        let words = self.version.words();
        let outputs = Path::Root.key(words.outputs);
        let diagnostic = Diagnostic::error(&codes::OUTPUT_DEFINITION, message)
            .class("Output validation error")
            .path(outputs.key(&entry.key))
            .at(span)
            .help(format!("write it as `{}: {{{}: ...}}`", entry.key, words.value));
        self.findings.add(Stage::OutputDefinitions, diagnostic);
    }
}
