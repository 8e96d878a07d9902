//! Resource definitions of both dialects.

use super::{Lowering, found};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Map, Node};
use crate::expr::Expr;
use crate::findings::Stage;
use crate::source::Span;
use crate::suggest;
use crate::template::{DeletionPolicy, Resource, Spanned};
use crate::value::Value;
use crate::version::Dialect;
use indexmap::IndexMap;
use std::sync::Arc;

/// What a field may hold; functions pass where a value of any kind could come out.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    TextOrFunction,
    Map,
    TextOrList,
    TextOrBoolean,
}

static HOT_KEYS: [&str; 9] = [
    "type",
    "properties",
    "metadata",
    "depends_on",
    "deletion_policy",
    "update_policy",
    "description",
    "external_id",
    "condition",
];

impl Lowering {
    pub(super) fn resources(&mut self, node: Node) -> IndexMap<Arc<str>, Resource> {
        let name = self.version.words().resources;
        self.section_map(&node, name, Stage::Sections);
        let Data::Map(map) = node.data else { return IndexMap::new() };
        let mut resources = IndexMap::with_capacity(map.len());
        for entry in map.entries {
            if let Some(resource) = self.resource(&entry) {
                resources.insert(entry.key, resource);
            }
        }
        resources
    }

    fn refuse(&mut self, stage: Stage, message: String, span: Span, help: Option<String>) {
        let diagnostic = Diagnostic::error(&codes::RESOURCE_DEFINITION, message).at(span);
        self.findings.add(stage, Diagnostic { help, ..diagnostic });
    }

    fn resource(&mut self, entry: &Entry) -> Option<Resource> {
        if entry.key.contains('/') {
            let message = "Resource name may not contain \"/\"".to_string();
            self.refuse(Stage::Types, message, entry.key_span, None);
        }
        let hot = self.version.dialect() == Dialect::Hot;
        let map = match &entry.value.data {
            Data::Map(map) => map,
            // Empty things count as a resource of which nothing is said.
            _ if !Value::from(&entry.value).is_truthy() => return self.no_type(entry, hot),
            _ if hot => {
                let message = format!(
                    "\"resources\" must contain a map of resource maps. Found a [{}] instead",
                    found(&entry.value)
                );
                self.refuse(Stage::Sections, message, entry.value.span, None);
                return None;
            }
            _ => {
                let message = format!(
                    "Resources must contain Resource. Found a [{}] instead",
                    found(&entry.value)
                );
                self.refuse(Stage::Sections, message, entry.value.span, None);
                return None;
            }
        };
        if hot {
            self.unknown_keys(map);
        }
        let words = self.version.words();
        let kind = match map.get(words.kind) {
            None => return self.no_type(entry, hot),
            Some(node) => self.kind(entry, node)?,
        };
        let field = |key: &str| map.get(key);
        Some(Resource {
            name: entry.key.clone(),
            name_span: entry.key_span,
            properties: self.field(entry, field(words.properties), words.properties, Kind::Map),
            metadata: self.field(entry, field(words.metadata), words.metadata, Kind::Map),
            depends_on: self.depends_on(entry, field(words.depends_on)),
            deletion_policy: self
                .deletion_policy(entry, field(words.deletion_policy))
                .map(Box::new),
            update_policy: self
                .field(entry, field(words.update_policy), words.update_policy, Kind::Map)
                .map(Box::new),
            description: self
                .field(entry, field(words.description), words.description, Kind::Text)
                .and_then(|expr| expr.as_text().cloned()),
            external_id: self.external_id(entry, map).map(Box::new),
            condition: self.resource_condition(entry, map).map(Box::new),
            kind,
        })
    }

    fn no_type(&mut self, entry: &Entry, hot: bool) -> Option<Resource> {
        let message = if hot {
            "Each resource must contain a type key."
        } else {
            "Each Resource must contain a Type key."
        };
        let help = format!("say what `{}` is with `{}:`", entry.key, self.version.words().kind);
        self.refuse(Stage::Sections, message.into(), entry.key_span, Some(help));
        None
    }

    fn unknown_keys(&mut self, map: &Map) {
        for entry in map {
            let key = &*entry.key;
            let known = HOT_KEYS.contains(&key);
            let later = match key {
                "condition" => !self.version.has_conditions(),
                "external_id" => !self.version.has_external_id(),
                _ => false,
            };
            if known && !later {
                continue;
            }
            let (stage, message, help) = if known {
                let message = format!("Invalid keyword(s) inside a resource definition: {key}");
                let help = format!("`{key}` needs heat_template_version 2016-10-14 or later");
                (Stage::ResourceDefinitions, message, Some(help))
            } else {
                let message =
                    format!("\"{key}\" is not a valid keyword inside a resource definition");
                let near = suggest::closest(key, HOT_KEYS);
                (Stage::Sections, message, near.map(|near| format!("did you mean `{near}`?")))
            };
            self.refuse(stage, message, entry.key_span, help);
        }
    }

    fn kind(&mut self, entry: &Entry, node: &Node) -> Option<Spanned<Arc<str>>> {
        match node.as_text() {
            Some(text) if !text.is_empty() => {
                Some(Spanned { value: text.clone(), span: node.span })
            }
            None if !node.is_null() => {
                let expr = self.value(node);
                self.wrong_kind(entry, self.version.words().kind, Kind::Text, expr.span);
                None
            }
            _ => {
                let message = "Each Resource must contain a Type key.".to_string();
                self.refuse(Stage::Sections, message, node.span, None);
                None
            }
        }
    }

    fn field(&mut self, entry: &Entry, node: Option<&Node>, key: &str, kind: Kind) -> Option<Expr> {
        let node = node?;
        let expr = match kind {
            Kind::TextOrBoolean => self.condition(node),
            _ => self.value(node),
        };
        let function = expr.is_function();
        let fits = match (kind, &node.data) {
            (Kind::Text, data) => matches!(data, Data::Text(_)) && !function,
            (Kind::TextOrFunction, data) => matches!(data, Data::Text(_)) || function,
            (Kind::Map, data) => matches!(data, Data::Map(_)),
            (Kind::TextOrList, data) => matches!(data, Data::Text(_) | Data::List(_)),
            (Kind::TextOrBoolean, data) => {
                matches!(data, Data::Text(_) | Data::Bool(_)) || function
            }
        };
        if !fits {
            self.wrong_kind(entry, key, kind, node.span);
            return None;
        }
        Some(expr)
    }

    fn wrong_kind(&mut self, entry: &Entry, key: &str, kind: Kind, span: Span) {
        let hot = self.version.dialect() == Dialect::Hot;
        let kind = match kind {
            Kind::Text | Kind::TextOrFunction => "string",
            Kind::Map => "object",
            Kind::TextOrList => "list or string",
            Kind::TextOrBoolean if hot => "string_or_boolean",
            Kind::TextOrBoolean => "string or boolean",
        };
        let message = format!("Resource {} {key} type must be {kind}", entry.key);
        self.refuse(Stage::ResourceDefinitions, message, span, None);
    }

    fn depends_on(&mut self, entry: &Entry, node: Option<&Node>) -> Vec<Spanned<Arc<str>>> {
        let key = self.version.words().depends_on;
        let Some(node) = node else { return Vec::new() };
        if self.field(entry, Some(node), key, Kind::TextOrList).is_none() {
            return Vec::new();
        }
        let members = node.as_list().unwrap_or(std::slice::from_ref(node));
        let mut names = Vec::with_capacity(members.len());
        for member in members {
            match member.as_text() {
                Some(text) => names.push(Spanned { value: text.clone(), span: member.span }),
                None => {
                    let message = format!("Resource {} {key} must be a list of strings", entry.key);
                    let help = "name resources; functions are not evaluated here".to_string();
                    self.refuse(Stage::ResourceDefinitions, message, member.span, Some(help));
                }
            }
        }
        names
    }

    fn deletion_policy(&mut self, entry: &Entry, node: Option<&Node>) -> Option<Expr> {
        let key = self.version.words().deletion_policy;
        let expr = self.field(entry, node, key, Kind::TextOrFunction)?;
        if let Some(text) = expr.as_text()
            && DeletionPolicy::parse(text, self.version).is_none()
        {
            let diagnostic = bad_deletion_policy(text, expr.span);
            self.findings.add(Stage::ResourceDefinitions, diagnostic);
            return None;
        }
        Some(expr)
    }

    fn external_id(&mut self, entry: &Entry, map: &Map) -> Option<Expr> {
        let has = self.version.has_external_id();
        let node = map.get("external_id").filter(|_| has);
        self.field(entry, node, "external_id", Kind::TextOrFunction)
    }

    fn resource_condition(&mut self, entry: &Entry, map: &Map) -> Option<Expr> {
        let key = self.version.words().condition;
        let has = self.version.has_conditions();
        self.field(entry, map.get(key).filter(|_| has), key, Kind::TextOrBoolean)
    }
}

/// The refusal of a deletion policy that does not exist.
pub(crate) fn bad_deletion_policy(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::DELETION_POLICY, format!("Invalid deletion policy \"{text}\""))
        .at(span)
        .help("the policies are Delete, Retain and Snapshot")
}
