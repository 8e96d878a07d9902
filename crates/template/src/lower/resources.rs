//! Resource definitions of both dialects.

use super::{Lowering, found};
use crate::check;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Entry, Map, Node};
use crate::expr::{Expr, ExprKind};
use crate::findings::Stage;
use crate::source::Span;
use crate::suggest;
use crate::template::{DeletionPolicy, Resource, Spanned};
use crate::value::Value;
use crate::version::Dialect;
use indexmap::IndexMap;
use std::sync::Arc;

/// The accepted type of a field; a function is accepted where its result could have the type.
#[derive(Clone, Copy, PartialEq)]
enum FieldType {
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
        let name = self.version.keywords().resources;
        self.section_map(&node, name, Stage::Sections);
        let Data::Map(map) = node.data else { return IndexMap::new() };
        let mut resources = IndexMap::with_capacity(map.len());
        for entry in map.entries {
            if let Some(resource) = self.resource(entry) {
                resources.insert(resource.name.clone(), resource);
            }
        }
        resources
    }

    fn refuse(&mut self, stage: Stage, message: String, span: Span, help: Option<String>) {
        let diagnostic = Diagnostic::error(&codes::RESOURCE_DEFINITION, message).at(span);
        self.findings.add(stage, Diagnostic { help, ..diagnostic });
    }

    fn resource(&mut self, entry: Entry) -> Option<Resource> {
        let Entry { key: name, key_span: name_span, value: node } = entry;
        if name.contains('/') {
            let message = "Resource name may not contain \"/\"".to_string();
            self.refuse(Stage::Types, message, name_span, None);
        }
        let hot = self.version.dialect() == Dialect::Hot;
        let mut map = match node.data {
            Data::Map(map) => map,
            // An empty value counts as an empty definition.
            _ if !Value::from(&node).is_truthy() => return self.no_type(&name, name_span),
            _ => {
                let message = if hot {
                    "\"resources\" must contain a map of resource maps. Found a"
                } else {
                    "Resources must contain Resource. Found a"
                };
                let message = format!("{message} [{}] instead", found(&node));
                self.refuse(Stage::Sections, message, node.span, None);
                return None;
            }
        };
        if hot {
            self.unknown_keys(&map);
        }
        let words = self.version.keywords();
        let kind = match map.take(words.resource_type) {
            None => return self.no_type(&name, name_span),
            Some(node) => self.kind(&name, node)?,
        };
        let map = &mut map;
        let properties = self.field(&name, map, words.properties, FieldType::Map);
        let metadata = self.field(&name, map, words.metadata, FieldType::Map);
        Some(Resource {
            type_name: kind,
            references: check::collect_references([&properties, &metadata].into_iter().flatten()),
            properties,
            metadata,
            depends_on: self.depends_on(&name, map),
            deletion_policy: self.deletion_policy(&name, map).map(Box::new),
            update_policy: self
                .field(&name, map, words.update_policy, FieldType::Map)
                .map(Box::new),
            description: self
                .field(&name, map, words.description, FieldType::Text)
                .and_then(|expr| expr.as_text().cloned()),
            external_id: self.external_id(&name, map).map(Box::new),
            condition: self.resource_condition(&name, map).map(Box::new),
            name,
            name_span,
        })
    }

    fn no_type(&mut self, name: &str, span: Span) -> Option<Resource> {
        let message = match self.version.dialect() {
            Dialect::Hot => "Each resource must contain a type key.",
            Dialect::Cfn => "Each Resource must contain a Type key.",
        };
        let help =
            format!("say what `{name}` is with `{}:`", self.version.keywords().resource_type);
        self.refuse(Stage::Sections, message.into(), span, Some(help));
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

    fn kind(&mut self, name: &str, node: Node) -> Option<Spanned<Arc<str>>> {
        match node.data {
            Data::Text(text) if !text.is_empty() => Some(Spanned { value: text, span: node.span }),
            Data::Text(_) | Data::Null => {
                let message = "Each Resource must contain a Type key.".to_string();
                self.refuse(Stage::Sections, message, node.span, None);
                None
            }
            _ => {
                self.wrong_kind(
                    name,
                    self.version.keywords().resource_type,
                    FieldType::Text,
                    node.span,
                );
                None
            }
        }
    }

    fn field(&mut self, name: &str, map: &mut Map, key: &str, kind: FieldType) -> Option<Expr> {
        let node = map.take(key)?;
        let expr = match kind {
            FieldType::TextOrBoolean => self.condition(node),
            _ => self.value(node),
        };
        let fits = match (kind, &expr.kind) {
            (_, ExprKind::Scalar(Value::Text(_))) => kind != FieldType::Map,
            (FieldType::TextOrBoolean, ExprKind::Scalar(Value::Bool(_))) => true,
            (FieldType::Map, ExprKind::Map(_)) => true,
            _ => kind != FieldType::Text && expr.is_function(),
        };
        if !fits {
            self.wrong_kind(name, key, kind, expr.span);
            return None;
        }
        Some(expr)
    }

    fn wrong_kind(&mut self, name: &str, key: &str, kind: FieldType, span: Span) {
        let hot = self.version.dialect() == Dialect::Hot;
        let kind = match kind {
            FieldType::Text | FieldType::TextOrFunction => "string",
            FieldType::Map => "object",
            FieldType::TextOrList => "list or string",
            FieldType::TextOrBoolean if hot => "string_or_boolean",
            FieldType::TextOrBoolean => "string or boolean",
        };
        let message = format!("Resource {name} {key} type must be {kind}");
        self.refuse(Stage::ResourceDefinitions, message, span, None);
    }

    fn depends_on(&mut self, name: &str, map: &mut Map) -> Vec<Spanned<Arc<str>>> {
        let key = self.version.keywords().depends_on;
        let Some(Node { span, data }) = map.take(key) else { return Vec::new() };
        let members = match data {
            Data::List(members) => members,
            Data::Text(value) => return vec![Spanned { value, span }],
            _ => {
                self.wrong_kind(name, key, FieldType::TextOrList, span);
                return Vec::new();
            }
        };
        let mut names = Vec::with_capacity(members.len());
        for Node { span, data } in members {
            if let Data::Text(value) = data {
                names.push(Spanned { value, span });
                continue;
            }
            let message = format!("Resource {name} {key} must be a list of strings");
            let help = "name resources; functions are not evaluated here".to_string();
            self.refuse(Stage::ResourceDefinitions, message, span, Some(help));
        }
        names
    }

    fn deletion_policy(&mut self, name: &str, map: &mut Map) -> Option<Expr> {
        let key = self.version.keywords().deletion_policy;
        let expr = self.field(name, map, key, FieldType::TextOrFunction)?;
        if let Some(text) = expr.as_text()
            && DeletionPolicy::parse(text, self.version).is_none()
        {
            let diagnostic = bad_deletion_policy(text, expr.span);
            self.findings.add(Stage::ResourceDefinitions, diagnostic);
            return None;
        }
        Some(expr)
    }

    fn external_id(&mut self, name: &str, map: &mut Map) -> Option<Expr> {
        if !self.version.has_external_id() {
            return None;
        }
        self.field(name, map, "external_id", FieldType::TextOrFunction)
    }

    fn resource_condition(&mut self, name: &str, map: &mut Map) -> Option<Expr> {
        if !self.version.has_conditions() {
            return None;
        }
        self.field(name, map, self.version.keywords().condition, FieldType::TextOrBoolean)
    }
}

/// The error for a deletion policy that does not exist.
pub(crate) fn bad_deletion_policy(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::DELETION_POLICY, format!("Invalid deletion policy \"{text}\""))
        .at(span)
        .help("the policies are Delete, Retain and Snapshot")
}
