//! Resource types that an operator describes in YAML.
//!
//! A file says what a declaration of a plain type says ([`crate::declare`], [`crate::rest`]), and becomes the
//! same value: nobody can tell a type of a file from a built-in one. What is wrong with files is told all at
//! once, each with its place and what to write instead; then none of them counts.
//!
//! What files can ask for is bounded: so many of them, so long, so many types.

mod object;
mod property;
mod reader;

use crate::declare::{ImplicitDependency, ResourceType};
use crate::registry::Registry;
use kiln_template::document::{Entry, Map};
use kiln_template::{Diagnostic, FileId, Limits, Sources, Span, codes, read};
use reader::{Reader, quoted};
use std::collections::BTreeMap;

/// So many files are read.
pub const MAX_FILES: usize = 200;
/// So many bytes a file may have.
pub const MAX_BYTES: usize = 524_288;
/// So many types may be in all files together.
pub const MAX_TYPES: usize = 1_000;

/// What can be said of a type.
const TYPE: [&str; 25] = [
    "always",
    "attributes",
    "change",
    "depends_on",
    "description",
    "drift",
    "envelope",
    "envelope_in_requests",
    "extension",
    "gone_at_once",
    "id",
    "list",
    "list_envelope",
    "mark",
    "microversion",
    "name_limit",
    "override",
    "path",
    "properties",
    "ready",
    "replace_on_failed_check",
    "retry",
    "service",
    "show_as",
    "support_status",
];

/// The built-in types and those of some files, which are in `sources`; or all that is wrong with the files.
pub fn load(sources: &Sources, files: &[FileId]) -> Result<Registry, Vec<Diagnostic>> {
    let builtin = Registry::builtin();
    let mut reading = Reader::default();
    let mut types: Vec<(ResourceType, Span)> = Vec::new();
    if let Some(file) = files.get(MAX_FILES) {
        let message = format!("there are more than {MAX_FILES} files with resource types");
        reading.wrong(Span::start_of(*file), message, "put several types into one file");
    }
    for file in files.iter().take(MAX_FILES) {
        let text = sources.get(*file).map_or("", |source| source.text());
        types.extend(read_file(&mut reading, *file, text));
        if let Some((_, at)) = types.get(MAX_TYPES) {
            let message = format!("there are more than {MAX_TYPES} resource types in files");
            reading.wrong(*at, message, "remove those that no template uses");
            break;
        }
    }
    needs_are_there(&mut reading, &types);
    no_name_twice(&mut reading, &types);
    if reading.found.iter().any(Diagnostic::is_error) {
        return Err(reading.found);
    }
    let types = types.into_iter().map(|(kind, _)| kind);
    Ok(Registry::new(builtin.iter().cloned().chain(types)))
}

/// The types of a file.
fn read_file(reading: &mut Reader, file: FileId, text: &str) -> Vec<(ResourceType, Span)> {
    let limits = Limits { max_bytes: MAX_BYTES, ..Limits::default() };
    let (document, mut found) = if text.len() > MAX_BYTES {
        let message = format!("a file with resource types may have {MAX_BYTES} bytes");
        let found = Diagnostic::error(&codes::TYPE_FILE, message).at(Span::start_of(file));
        (None, vec![found.help("put some of its types into another file")])
    } else {
        read::read(file, text, &limits)
    };
    // A key that is there twice is a mistake here, whatever templates may do.
    for found in found.iter_mut().filter(|found| found.code == &codes::DUPLICATE_KEY) {
        found.severity = kiln_template::Severity::Error;
        found.help = Some("keep one of them".into());
    }
    reading.found.extend(found);
    let Some(document) = document else { return Vec::new() };
    if document.is_null() {
        return Vec::new();
    }
    let Some(map) = reading.members(&document, "a file with resource types", &["types"]) else {
        return Vec::new();
    };
    let entries = reading.entries(map, "types");
    entries.iter().filter_map(|entry| resource_type(reading, entry)).collect()
}

fn resource_type(reading: &mut Reader, entry: &Entry) -> Option<(ResourceType, Span)> {
    let (name, at) = (&*entry.key, entry.key_span);
    if !is_type_name(name) {
        let message = format!("{} cannot be the name of a type", quoted(name));
        reading.wrong(
            at,
            message,
            "write words with `::` between them, such as `Acme::Network::Scope`",
        );
    }
    let what = format!("the type {}", quoted(name));
    let map = reading.members(&entry.value, &what, &TYPE)?;
    clash(reading, name, map, at);
    let (properties, sending) = property::properties(reading, map);
    let (attributes, shown) = property::attributes(reading, map);
    let around = object::TypeContext { properties: &properties, sending, shown, at };
    let spec = object::rest_spec(reading, map, around);
    let mut kind = ResourceType::new(name.to_owned()).checkable();
    kind.implicit_dependencies = object::needs(reading, map, &properties);
    kind.schema.about = reading.text(map, "description").unwrap_or_default();
    kind.schema.support = property::support(reading, map);
    kind.schema.properties = properties;
    kind.schema.attributes = attributes;
    kind.service = spec.as_ref().map(|spec| spec.service);
    kind.extension = reading.text(map, "extension");
    kind.entity = reading.text(map, "show_as");
    kind.replace_on_failed_check = reading.flag(map, "replace_on_failed_check", true);
    if let Some(entry) = map.entry("name_limit") {
        let limit = reading.number(&entry.value, "`name_limit`", 20, 255);
        kind.name_limit = limit.and_then(|it| usize::try_from(it).ok()).unwrap_or(kind.name_limit);
    }
    kind.abilities.drift = reading.flag(map, "drift", true);
    let mut spec = spec?;
    if !kind.abilities.drift {
        spec.uncompared = kind.schema.properties.iter().map(|it| it.name.clone()).collect();
    }
    Some((kind.rest(spec), at))
}

fn is_type_name(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    name.len() <= 255 && name.contains("::") && name.split("::").all(is_word)
}

/// A type takes the place of a built-in one only if it says so.
fn clash(reading: &mut Reader, name: &str, map: &Map, at: Span) {
    let is_meant = reading.flag(map, "override", false);
    let is_builtin = Registry::builtin().get(name).is_some();
    if is_builtin && !is_meant {
        let message = format!("there is a built-in type {}", quoted(name));
        let help = "choose another name, or add `override: true` to have this one in its place";
        reading.found.push(Diagnostic::error(&codes::TYPE_CLASH, message).at(at).help(help));
    }
    if let (false, true, Some(entry)) = (is_builtin, is_meant, map.entry("override")) {
        let message = format!("there is no built-in type {} to take the place of", quoted(name));
        reading.wrong(entry.key_span, message, "leave out `override`, or correct the name");
    }
}

fn no_name_twice(reading: &mut Reader, types: &[(ResourceType, Span)]) {
    let mut first: BTreeMap<&str, Span> = BTreeMap::new();
    for (kind, at) in types {
        let Some(before) = first.insert(kind.name(), *at) else { continue };
        let message = format!("there are two types {}", quoted(kind.name()));
        let clash = Diagnostic::error(&codes::TYPE_CLASH, message);
        let clash = clash.label(*at, "again here").label(before, "first here");
        reading.found.push(clash.help("choose another name for one of them"));
    }
}

/// What a type needs without a word is a property of a type that there is.
fn needs_are_there(reading: &mut Reader, types: &[(ResourceType, Span)]) {
    let ours: BTreeMap<&str, &ResourceType> =
        types.iter().map(|(kind, _)| (kind.name(), kind)).collect();
    let find = |name: &str| ours.get(name).copied().or_else(|| Registry::builtin().get(name));
    for (kind, at) in types {
        for ImplicitDependency { type_name: needed, other_property: other, .. } in
            &kind.implicit_dependencies
        {
            let property = other.split('.').next().unwrap_or_default();
            if find(needed).is_some_and(|it| it.schema.property(property).is_some()) {
                continue;
            }
            let message =
                format!("there is no type {} with a property {}", quoted(needed), quoted(property));
            reading.wrong(*at, message, "correct `depends_on`");
        }
    }
}
