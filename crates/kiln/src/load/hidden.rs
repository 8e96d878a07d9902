//! Finds values of hidden parameters in texts: defaults, values in environments, and
//! values that resources pass to nested stacks.
//!
//! A parameter that is hidden in one template is masked in all texts: masking too much does no harm.

use crate::render::texts::MaskedRanges;
use kiln_template::document::{Data, Map, Node};
use kiln_template::{Diagnostic, FileId, Sources, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The keys whose members are parameters.
const GIVING: [&str; 5] =
    ["Parameters", "Properties", "parameter_defaults", "parameters", "properties"];

/// The ranges to mask in documents, and in texts that could not be parsed.
pub(super) fn places<'a>(
    documents: impl Iterator<Item = &'a Node> + Clone,
    found: &[Diagnostic],
    sources: &Sources,
) -> MaskedRanges {
    let mut covering = Masker { sources, names: BTreeSet::new(), hidden: MaskedRanges::new() };
    for document in documents.clone() {
        covering.definitions(document);
    }
    if covering.names.is_empty() {
        return covering.hidden;
    }
    let mut read = BTreeSet::new();
    for document in documents {
        read.extend(sources.file(document.span));
        covering.values(document);
    }
    let labels = found.iter().flat_map(|found| &found.labels);
    let named = labels.filter_map(|label| sources.file(label.span));
    let unread: BTreeSet<FileId> = named.filter(|file| !read.contains(file)).collect();
    for file in unread {
        if let Some(source) = sources.get(file) {
            covering.lines(file, source.text());
        }
    }
    covering.hidden
}

struct Masker<'a> {
    sources: &'a Sources,
    names: BTreeSet<Arc<str>>,
    hidden: MaskedRanges,
}

impl Masker<'_> {
    /// Collects the hidden parameters of a template, and masks their defaults.
    fn definitions(&mut self, document: &Node) {
        let sections = document.as_map().map_or(&[][..], |map| &map.entries);
        let sections = sections
            .iter()
            .filter(|section| matches!(&*section.key, "parameters" | "Parameters"))
            .filter_map(|section| section.value.as_map());
        for entry in sections.flatten() {
            let Some(definition) = entry.value.as_map().filter(|map| is_hidden(map)) else {
                continue;
            };
            self.names.insert(entry.key.clone());
            for part in definition {
                if matches!(&*part.key, "default" | "Default") {
                    self.cover(part.value.span);
                }
            }
        }
    }

    /// Masks the values of hidden parameters. The recursion is bounded by the depth of the document.
    fn values(&mut self, node: &Node) {
        match &node.data {
            Data::Map(map) => {
                for entry in map {
                    if let (true, Data::Map(given)) =
                        (GIVING.contains(&&*entry.key), &entry.value.data)
                    {
                        self.given(given);
                    }
                    self.values(&entry.value);
                }
            }
            Data::List(items) => items.iter().for_each(|item| self.values(item)),
            _ => {}
        }
    }

    /// Masks the members with hidden names, unless they are functions or definitions.
    fn given(&mut self, given: &Map) {
        for entry in given {
            let is_value = match &entry.value.data {
                Data::Map(map) => !defines(map) && map.len() != 1,
                _ => true,
            };
            if is_value && self.names.contains(&entry.key) {
                self.cover(entry.value.span);
            }
        }
    }

    /// Masks the rest of every line that begins with a hidden name as a key.
    fn lines(&mut self, file: FileId, text: &str) {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let key = line.trim_start_matches([' ', '\t', '-', '{', ',', '"', '\'']);
            let before = start + line.len() - key.len();
            if let Some((name, _)) = key.split_once(':') {
                let bare = name.trim_end_matches(['"', '\'', ' ']);
                if self.names.contains(bare) {
                    let value = before + name.len() + 1;
                    self.cover(Span::new(file, value, start + line.len()));
                }
            }
            start += line.len();
        }
    }

    fn cover(&mut self, span: Span) {
        if let Some((source, range)) = self.sources.range_of(span) {
            self.hidden.entry(source.id()).or_default().push(range);
        }
    }
}

/// Whether a definition hides the parameter; unclear values count as hidden.
fn is_hidden(definition: &Map) -> bool {
    definition.iter().any(|part| {
        matches!(&*part.key, "hidden" | "NoEcho")
            && match &part.value.data {
                Data::Null | Data::Bool(false) => false,
                Data::Text(text) => {
                    !["false", "f", "no", "n", "off", "0"].contains(&&*text.to_lowercase())
                }
                _ => true,
            }
    })
}

/// Whether a map is a parameter's definition.
fn defines(map: &Map) -> bool {
    map.iter().any(|part| matches!(&*part.key, "type" | "Type"))
}
