//! The statements of a `resource_registry` section, checked and in order, not yet applied.
//!
//! A statement may remove what earlier ones set up (null), so statements are kept until they are
//! loaded into a [`super::Layer`]: over an empty one, or over that of a stored stack.

use super::flags::{Action, Flags, Hook, Word};
use super::parse::{FORMAT, must_be};
use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Map, Node};
use crate::print;
use crate::source::Span;
use crate::suggest;
use crate::value::Value;
use indexmap::IndexMap;
use std::sync::Arc;

/// Statements by key.
pub type Statements = IndexMap<Arc<str>, Statement>;

/// The key of the entries for single resources.
pub(super) const RESOURCES: &str = "resources";
const HOOKS: &str = "hooks";
const RESTRICTED_ACTIONS: &str = "restricted_actions";
/// Keys whose text is never a type or a template.
pub(crate) const PLAIN_KEYS: [&str; 3] = ["base_url", HOOKS, RESTRICTED_ACTIONS];

/// One member of a registry: what a key is set to.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What the key is set to.
    pub setting: Setting,
    /// The span of the value.
    pub span: Option<Span>,
}

/// What a key of a registry is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// Null: earlier entries of the key go (with a trailing `*`: all with the prefix).
    Remove,
    /// A resource type or the name of a template.
    Type(Arc<str>),
    /// The hooks of a resource.
    Hooks(Flags<Hook>),
    /// The restricted actions of a resource.
    Restricted(Flags<Action>),
    /// What holds for a resource, or inside a nested stack.
    Inner(Statements),
}

/// Reads a registry section.
pub(super) fn read_section(map: &Map, found: &mut Vec<Diagnostic>) -> Statements {
    read_map(map, Level::Top, found)
}

/// Clears the spans, which belong to no file.
pub(super) fn forget_places(statements: &mut Statements) {
    for statement in statements.values_mut() {
        statement.span = None;
        if let Setting::Inner(inner) = &mut statement.setting {
            forget_places(inner);
        }
    }
}

/// The level of a map in the section.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    /// The section itself: types, and `resources`.
    Top,
    /// The map `resources`: names of resources.
    Resources,
    /// Below the name of a resource: types, and names of resources inside it.
    Resource,
}

fn read_map(map: &Map, level: Level, found: &mut Vec<Diagnostic>) -> Statements {
    let mut statements = Statements::with_capacity(map.len());
    for entry in map {
        if let Some(setting) = read_setting(entry, level, found) {
            let statement = Statement { setting, span: Some(entry.value.span) };
            statements.insert(entry.key.clone(), statement);
        }
    }
    statements
}

fn read_setting(entry: &Entry, level: Level, found: &mut Vec<Diagnostic>) -> Option<Setting> {
    let (key, node) = (&*entry.key, &entry.value);
    match (&node.data, key, level) {
        (Data::Null, ..) => Some(Setting::Remove),
        (_, HOOKS, _) => {
            flags(node, "hook", "resource breakpoint", &codes::BAD_HOOK, found).map(Setting::Hooks)
        }
        (_, RESTRICTED_ACTIONS, _) => {
            flags(node, "restricted_action", "resource", &codes::BAD_RESTRICTED_ACTION, found)
                .map(Setting::Restricted)
        }
        (Data::Map(inner), RESOURCES, Level::Top) => {
            Some(Setting::Inner(read_map(inner, Level::Resources, found)))
        }
        (Data::Map(inner), _, Level::Resources | Level::Resource) => {
            Some(Setting::Inner(read_map(inner, Level::Resource, found)))
        }
        (Data::Text(text), _, Level::Top | Level::Resource)
            if key != RESOURCES || level != Level::Top =>
        {
            Some(Setting::Type(text.clone()))
        }
        (Data::Text(text), _, Level::Resources) if PLAIN_KEYS.contains(&key) => {
            Some(Setting::Type(text.clone()))
        }
        _ => {
            found.push(wrong_kind(entry, level));
            None
        }
    }
}

fn wrong_kind(entry: &Entry, level: Level) -> Diagnostic {
    let (key, node) = (&*entry.key, &entry.value);
    let (expected, help) = match level {
        Level::Top if key == RESOURCES => {
            ("a map", "map names of resources to what holds for them")
        }
        Level::Top => (
            "text",
            "give the name of a resource type or of a template, or null to drop earlier entries; \
             what holds for single resources goes under `resources`",
        ),
        Level::Resources => (
            "a map",
            "map resource types to what they mean for this resource: `{\"OS::Nova::Server\": server.yaml}`",
        ),
        Level::Resource => ("text or a map", "give the name of a resource type or of a template"),
    };
    must_be(&format!("entry \"{key}\" of the resource registry"), expected, node).help(help)
}

fn flags<W: Word>(
    node: &Node,
    noun: &str,
    of: &str,
    code: &'static Code,
    found: &mut Vec<Diagnostic>,
) -> Option<Flags<W>> {
    let wrong = match Flags::read(node) {
        Ok(flags) => return Some(flags),
        Err(wrong) => wrong,
    };
    let supplied = print::plain(&Value::from(node));
    let message = format!(
        "Invalid {noun} type \"{supplied}\" for {of}, acceptable {noun} types are: {}",
        Flags::<W>::listed()
    );
    let words = W::ALL.iter().map(|word| word.word());
    let help = suggest::help(wrong.as_text().map_or("", |text| text), words);
    found.push(Diagnostic::error(code, message).at(wrong.span).help(help));
    None
}

/// An error in an environment's form, with the prefix that all of them have.
pub(super) fn format_error(text: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(&codes::ENVIRONMENT_FORMAT, format!("{FORMAT}{text}"))
}
