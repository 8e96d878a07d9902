//! Output definitions of both dialects.

use super::Lowering;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Node};
use crate::findings::Stage;
use crate::path::Path;
use crate::source::Span;
use crate::template::{Output, Spanned};
use crate::value::Value;
use indexmap::IndexMap;
use std::sync::Arc;

impl Lowering {
    pub(super) fn outputs(&mut self, node: Node) -> IndexMap<Arc<str>, Output> {
        let name = self.version.keywords().outputs;
        self.section_map(&node, name, Stage::OutputDefinitions);
        let Data::Map(map) = node.data else { return IndexMap::new() };
        let outputs = map.entries.into_iter().filter_map(|entry| self.output(entry));
        outputs.map(|output| (output.name.clone(), output)).collect()
    }

    fn output(&mut self, entry: Entry) -> Option<Output> {
        let words = self.version.keywords();
        let Entry { key: name, key_span: name_span, value: node } = entry;
        let Data::Map(mut map) = node.data else {
            let kind = Value::from(&node).python_type();
            let message = format!("Output definitions must be a map. Found a {kind} instead");
            self.refuse_output(&name, message, node.span);
            return None;
        };
        let Some(value) = map.take(words.value) else {
            let message = format!("Each output definition must contain a {} key.", words.value);
            self.refuse_output(&name, message, name_span);
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
            name,
            name_span,
            value: self.value(value),
            unknown_keys: unknown_keys.collect(),
            description: map.get(words.description).map(Value::from),
            condition: map
                .take(words.condition)
                .filter(|_| has_conditions)
                .map(|node| self.condition(node)),
        })
    }

    fn refuse_output(&mut self, name: &str, message: String, span: Span) {
        let words = self.version.keywords();
        let outputs = Path::Root.key(words.outputs);
        let diagnostic = Diagnostic::error(&codes::OUTPUT_DEFINITION, message)
            .class("Output validation error")
            .path(outputs.key(name))
            .at(span)
            .help(format!("write it as `{}: {{{}: ...}}`", name, words.value));
        self.findings.add(Stage::OutputDefinitions, diagnostic);
    }
}
