//! Names in templates and environments become absolute URLs. The tree keeps its spans.

use super::url;
use crate::document::{Data, Map, Node};
use crate::environment::PLAIN_KEYS;
use crate::source::Span;
use std::sync::Arc;

/// URLs that names were rewritten to, each with the name's span.
pub(super) type Names = Vec<(String, Span)>;

/// Rewrites the names in a template: `get_file`, and `type` with the name of a template, wherever
/// they appear. A name that is not text stays as it is.
pub(super) fn template(node: &mut Node, directory: &str) -> Names {
    let mut names = Names::new();
    template_part(node, directory, &mut names);
    names
}

/// Rewrites the names in an environment's registry, also for single resources.
///
/// Names are relative to the registry's `base_url`, else to the environment's own directory.
pub(super) fn environment(node: &mut Node, directory: &str) -> Names {
    let mut names = Names::new();
    let Data::Map(sections) = &mut node.data else { return names };
    let section = sections.entries.iter_mut().find(|entry| &*entry.key == "resource_registry");
    let Some(Data::Map(registry)) = section.map(|entry| &mut entry.value.data) else {
        return names;
    };
    let directory = base_of(registry, directory);
    types(registry, &directory, &mut names);
    let resources = registry.entries.iter_mut().find(|entry| &*entry.key == "resources");
    if let Some(Data::Map(resources)) = resources.map(|entry| &mut entry.value.data) {
        for resource in &mut resources.entries {
            if let Data::Map(map) = &mut resource.value.data {
                let directory = base_of(map, &directory);
                types(map, &directory, &mut names);
            }
        }
    }
    names
}

/// As deep as the document is, which its reader bounds.
fn template_part(node: &mut Node, directory: &str, names: &mut Names) {
    match &mut node.data {
        Data::List(items) => {
            items.iter_mut().for_each(|item| template_part(item, directory, names));
        }
        Data::Map(map) => {
            for entry in &mut map.entries {
                if names_file(&entry.key, &entry.value) {
                    rewrite(&mut entry.value, directory, names);
                } else {
                    template_part(&mut entry.value, directory, names);
                }
            }
        }
        _ => {}
    }
}

/// Whether a member of a template names a file.
fn names_file(key: &str, value: &Node) -> bool {
    let Some(text) = value.as_text() else { return false };
    match key {
        "get_file" => true,
        "type" => text.ends_with(".yaml") || text.ends_with(".template"),
        _ => false,
    }
}

/// Rewrites the targets of types, unless they are other types.
fn types(map: &mut Map, directory: &str, names: &mut Names) {
    for entry in &mut map.entries {
        let is_name = entry.value.as_text().is_some_and(|text| !text.contains("::"));
        if is_name && !PLAIN_KEYS.contains(&&*entry.key) {
            rewrite(&mut entry.value, directory, names);
        }
    }
}

/// The base URL of the names in a registry.
fn base_of(map: &Map, directory: &str) -> String {
    match map.get("base_url").and_then(Node::as_text) {
        Some(base) if !base.is_empty() => url::as_directory(base),
        _ => directory.to_owned(),
    }
}

fn rewrite(node: &mut Node, directory: &str, names: &mut Names) {
    let span = node.span;
    if let Data::Text(name) = &mut node.data {
        let url = url::join(directory, name);
        *name = Arc::from(url.as_str());
        names.push((url, span));
    }
}
