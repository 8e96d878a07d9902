//! Lowering of a document to a template, for both dialects.
//!
//! Lowering goes on after every error and leaves out only invalid parts, so that all
//! errors are found in one pass.

mod outputs;
mod resources;

pub(crate) use resources::bad_deletion_policy;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Map, Node};
use crate::expr::Expr;
use crate::findings::{Findings, Stage};
use crate::parameters;
use crate::print;
use crate::source::Span;
use crate::suggest;
use crate::template::{Condition, Template};
use crate::value::Value;
use crate::version::{self, Dialect, KEYS, Position, Version};
use indexmap::IndexMap;
use std::sync::Arc;

/// Reads a template from a document; nothing comes back if even its version is not known.
///
/// The document is consumed: most of its memory becomes the template's.
pub fn template(document: Node) -> (Option<Template>, Findings) {
    let mut findings = Findings::new();
    let map = match document.data {
        Data::Map(map) => map,
        // Empty text counts as an empty map, but for the word `null`: that is JSON, and no object.
        Data::Null if document.span.end - document.span.start != 4 => Map::default(),
        _ => {
            findings.add(
                Stage::Read,
                Diagnostic::error(
                    &codes::NOT_A_MAP,
                    "The template is not a JSON object or YAML mapping.",
                )
                .at(document.span)
                .help("a template is a map that begins with `heat_template_version: 2021-04-16`"),
            );
            return (None, findings);
        }
    };
    match read_version(document.span, &map) {
        Ok(version) => {
            let mut lowering = Lowering { version, findings };
            let template = lowering.template(document.span, map);
            (Some(template), lowering.findings)
        }
        Err(diagnostic) => {
            findings.add(Stage::Read, *diagnostic);
            (None, findings)
        }
    }
}

fn read_version(document: Span, map: &Map) -> Result<Version, Box<Diagnostic>> {
    let announced: Vec<_> = map.iter().filter(|entry| KEYS.contains(&&*entry.key)).collect();
    let bad = |message: String, span: Span| {
        let message = format!("The template version is invalid: {message}");
        Diagnostic::error(&codes::BAD_VERSION, message).at(span)
    };
    if announced.is_empty() {
        let start = Span { end: document.start, ..document };
        let diagnostic =
            Diagnostic::error(&codes::NO_VERSION, "Template format version not found.").at(start);
        return Err(diagnostic.help("begin with `heat_template_version: 2021-04-16`").into());
    }
    let written: Vec<_> = announced
        .iter()
        .filter_map(|entry| entry.value.as_text().map(|text| (*entry, text)))
        .collect();
    match written[..] {
        [] => {
            let help = "the version is a date such as 2021-04-16, or a release name";
            let message = "Template version was not provided".to_string();
            Err(bad(message, announced[0].value.span).help(help).into())
        }
        [(entry, text)] => version::find(&entry.key, text).ok_or_else(|| {
            let values = version::values(&entry.key);
            let (key, some) =
                (&entry.key, if values.len() > 1 { "should be one of" } else { "should be" });
            let message = format!("\"{key}: {text}\". \"{key}\" {some}: {}", values.join(", "));
            let near = suggest::closest(text, values.iter().copied());
            let help = near.map(|near| format!("did you mean {near}?"));
            let newest = values.iter().rfind(|value| value.starts_with("20"));
            let help = help.or_else(|| newest.map(|newest| format!("the newest is {newest}")));
            Box::new(Diagnostic { help, ..bad(message, entry.value.span) })
        }),
        [(first, _), (second, _), ..] => {
            let keys: Vec<&str> = written.iter().map(|(entry, _)| &*entry.key).collect();
            let message = format!("Ambiguous versions ({})", keys.join(", "));
            Err(bad(message, second.key_span)
                .label(first.key_span, "the first version is here")
                .help("keep one of them")
                .into())
        }
    }
}

pub(super) struct Lowering {
    pub(super) version: Version,
    pub(super) findings: Findings,
}

impl Lowering {
    fn template(&mut self, span: Span, mut map: Map) -> Template {
        let words = self.version.keywords();
        self.unknown_sections(&map);
        let parameters = section(&mut map, words.parameters).map(|node| self.parameters(&node));
        let parameters = Arc::new(parameters.unwrap_or_default());
        let own_section = section(&mut map, words.own_section);
        let (mappings, parameter_groups) = match self.version.dialect() {
            Dialect::Cfn => (own_section.as_ref().map(Value::from), Vec::new()),
            Dialect::Hot => {
                let groups = own_section.map(|node| {
                    let (groups, problems) = parameters::groups(&node, &parameters);
                    self.findings.extend(Stage::ParameterGroups, problems);
                    groups
                });
                (None, groups.unwrap_or_default())
            }
        };
        let has_conditions = self.version.has_conditions();
        // Null is no map here: unlike other sections, an empty one of conditions is rejected.
        let conditions = map.take(words.conditions).filter(|_| has_conditions);
        let conditions = conditions.map(|node| self.conditions(node)).unwrap_or_default();
        let resources = section(&mut map, words.resources).map(|node| self.resources(node));
        let outputs = section(&mut map, words.outputs).map(|node| self.outputs(node));
        Template {
            span,
            version: self.version,
            description: map.get(words.description).map(Value::from).filter(Value::is_truthy),
            parameters,
            parameter_groups,
            mappings: mappings.unwrap_or_else(|| Value::map([("", Value::Null); 0])),
            conditions,
            resources: resources.unwrap_or_default(),
            outputs: outputs.unwrap_or_default(),
        }
    }

    fn unknown_sections(&mut self, map: &Map) {
        for entry in map.iter().filter(|entry| !self.version.has_section(&entry.key)) {
            let near = suggest::closest(&entry.key, self.version.sections());
            let help = match (&*entry.key, near) {
                ("conditions", _) => {
                    "conditions need heat_template_version 2016-10-14 or later".into()
                }
                (_, Some(near)) => format!("did you mean `{near}`?"),
                (_, None) => {
                    let sections: Vec<&str> = self.version.sections().collect();
                    format!("the sections of this version are {}", sections.join(", "))
                }
            };
            let message = format!("The template section is invalid: {}", entry.key);
            let diagnostic = Diagnostic::error(&codes::UNKNOWN_SECTION, message);
            self.findings.add(Stage::Sections, diagnostic.at(entry.key_span).help(help));
        }
    }

    fn parameters(&mut self, node: &Node) -> parameters::Definitions {
        let Some(_) =
            self.section_map(node, self.version.keywords().parameters, Stage::ParameterDefinitions)
        else {
            return parameters::Definitions::new();
        };
        let (parameters, problems) = match self.version.dialect() {
            Dialect::Cfn => parameters::parse_cfn(node),
            Dialect::Hot => {
                let features = parameters::Features {
                    tags: self.version >= Version::Hot20180302,
                    modulo: self.version >= Version::Hot20170224,
                };
                parameters::parse_hot(node, features)
            }
        };
        self.findings.extend(Stage::ParameterDefinitions, problems);
        parameters
    }

    /// The map of a section, or a finding that it is none.
    pub(super) fn section_map<'n>(
        &mut self,
        node: &'n Node,
        name: &str,
        stage: Stage,
    ) -> Option<&'n Map> {
        let map = node.as_map();
        if map.is_none() {
            let found = Value::from(node).python_type();
            let message = format!("The section {name} must be a map. Found a {found} instead");
            let diagnostic = Diagnostic::error(&codes::BAD_SECTION, message).at(node.span);
            self.findings.add(stage, diagnostic.help(format!("write `{name}:` as a map of names")));
        }
        map
    }

    fn conditions(&mut self, node: Node) -> IndexMap<Arc<str>, Condition> {
        let Data::Map(map) = node.data else {
            let found = Value::from(&node).python_type();
            let message = format!("Condition definitions must be a map. Found a {found} instead");
            let diagnostic = Diagnostic::error(&codes::CONDITIONS_SECTION, message)
                .class("Conditions validation error")
                .at(node.span);
            self.findings.add(Stage::Conditions, diagnostic);
            return IndexMap::new();
        };
        let conditions = map.entries.into_iter().map(|entry| {
            let definition = self.condition(entry.value);
            (entry.key, Condition { name_span: entry.key_span, definition })
        });
        conditions.collect()
    }

    /// A field's expression.
    pub(super) fn value(&self, node: Node) -> Expr {
        Expr::lower(node, self.version, Position::Value)
    }

    /// A condition's expression.
    pub(super) fn condition(&self, node: Node) -> Expr {
        Expr::lower(node, self.version, Position::Condition)
    }
}

/// A section that is not empty, taken out of the document.
fn section(map: &mut Map, name: &str) -> Option<Node> {
    map.take(name).filter(|node| !node.is_null())
}

/// The value found instead of the expected one, as Heat prints it.
pub(super) fn found(node: &Node) -> String {
    print::plain(&Value::from(node))
}
