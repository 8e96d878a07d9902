//! Templates inside templates: loading them, their interfaces, and the stacks they make.

use super::stack::{ResolvedType, Stack};
use super::{Context, NestedChecks};
use crate::codes;
use crate::definition::Files;
use crate::diagnostic::{Diagnostic, Label};
use crate::document::{Node, SecretHandling};
use crate::environment::EntryPath;
use crate::eval::Budget;
use crate::findings::{Findings, Stage};
use crate::limits::Limits;
use crate::lower;
use crate::nested;
use crate::parameters::{self, ParameterCheck, PseudoParameters};
use crate::schema::{PropertyType, TypeSchema};
use crate::source::{Sources, Span};
use crate::suggest;
use crate::template::{Resource, Template};
use crate::value::{Members, Value};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A template that implements a resource's type.
#[derive(Debug)]
pub(super) struct NestedTemplate {
    url: Arc<str>,
    entry: Option<EntryPath>,
    template: Arc<Template>,
    /// Its parameters and outputs as a type's.
    pub(super) interface: TypeSchema,
    /// The errors in the template itself.
    flaws: Findings,
}

/// A template that was read, or why it could not be.
#[derive(Clone)]
enum Loaded {
    Template(Arc<Template>, Findings),
    Unreadable(Vec<Diagnostic>),
}

/// How many resources are validated where the operator sets no limit on the resources of a stack.
const MAX_RESOURCES: usize = 100_000;

/// The maximum size, in bytes, of the intermediate results of a whole tree's expressions.
const BUDGET: usize = 1 << 30;

/// A template's name, and the registry's entry that led to it.
type Use = (Arc<str>, Vec<Arc<str>>);

/// Reads the templates of a tree, each once, and counts its resources.
pub(super) struct Loader<'s> {
    pub(super) sources: &'s mut Sources,
    files: Arc<Files>,
    /// Files that were read before.
    documents: IndexMap<Arc<str>, Node>,
    pub(super) limits: Limits,
    loaded: IndexMap<Arc<str>, Loaded>,
    /// Templates in use as types.
    children: BTreeMap<Use, Arc<NestedTemplate>>,
    /// The budget of all expressions of the tree.
    pub(super) budget: Budget,
    suggestions: usize,
    /// Resources of the tree so far.
    pub(super) resources: usize,
}

impl<'s> Loader<'s> {
    pub(super) fn new(
        sources: &'s mut Sources,
        files: Arc<Files>,
        documents: IndexMap<Arc<str>, Node>,
        limits: Limits,
    ) -> Loader<'s> {
        Loader {
            sources,
            files,
            documents,
            limits,
            loaded: IndexMap::new(),
            children: BTreeMap::new(),
            budget: Budget::new(BUDGET),
            suggestions: 0,
            resources: 0,
        }
    }

    /// Reads every file that is a template, used or not; their parameter definitions must be right.
    pub(super) fn preload(&mut self) -> Findings {
        let mut findings = Findings::new();
        let files = self.files.clone();
        for (url, text) in files.iter() {
            if !crate::version::KEYS.iter().any(|key| text.contains(key)) {
                continue;
            }
            match self.load(url) {
                Some(Loaded::Template(_, flaws)) => {
                    findings.append(flaws.clone().only(Stage::ParameterDefinitions));
                }
                Some(Loaded::Unreadable(problems)) => {
                    let versions =
                        problems.iter().filter(|problem| problem.code == &codes::BAD_VERSION);
                    findings.extend(Stage::ParameterDefinitions, versions.cloned());
                }
                None => {}
            }
        }
        findings
    }

    /// The name that was probably meant. The number of suggestions is limited: each compares all
    /// names.
    pub(super) fn suggest<'n>(
        &mut self,
        word: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        self.suggestions += 1;
        if self.suggestions > suggest::MAX_SUGGESTIONS {
            None
        } else {
            suggest::closest(word, names)
        }
    }

    /// The kinds of all parameters that the root or a template among the files declares.
    pub(super) fn parameter_kinds(
        &self,
        root: Option<&Template>,
    ) -> BTreeMap<Arc<str>, parameters::ParameterType> {
        let nested = self.loaded.values().filter_map(|loaded| match loaded {
            Loaded::Template(template, _) => Some(&**template),
            Loaded::Unreadable(_) => None,
        });
        // The root's declarations count before all others.
        let mut kinds = BTreeMap::new();
        for template in root.into_iter().chain(nested) {
            for parameter in template.parameters.values() {
                kinds.entry(parameter.name.clone()).or_insert(parameter.kind);
            }
        }
        kinds
    }

    fn load(&mut self, url: &str) -> Option<&Loaded> {
        if !self.loaded.contains_key(url) {
            let (url, text) = self.files.get_key_value(url)?;
            let loaded = match self.documents.swap_remove(url) {
                Some(document) => lower_template(document, Vec::new()),
                None => {
                    let file = self.sources.add(url.clone(), text.clone());
                    read_template(file, url, text, &self.limits)
                }
            };
            self.loaded.insert(url.clone(), loaded);
        }
        self.loaded.get(url)
    }
}

fn read_template(file: crate::FileId, url: &str, text: &str, limits: &Limits) -> Loaded {
    let (node, mut problems) = crate::read::read(file, text, limits);
    let Some(node) = node else {
        for problem in &mut problems {
            if problem.code == &codes::SYNTAX {
                problem.message = format!("Error parsing template {url} {}", problem.message);
                problem.kind = "StackValidationFailed";
            }
        }
        return Loaded::Unreadable(problems);
    };
    lower_template(node, problems)
}

fn lower_template(document: Node, problems: Vec<Diagnostic>) -> Loaded {
    let (template, mut findings) = lower::template(document);
    findings.extend(Stage::Read, problems);
    match template {
        Some(template) => Loaded::Template(Arc::new(template), findings),
        None => Loaded::Unreadable(
            findings
                .into_ordered()
                .into_iter()
                .map(|problem| match problem.code {
                    code if code == &codes::BAD_VERSION => problem,
                    _ => Diagnostic { kind: "StackValidationFailed", ..problem },
                })
                .collect(),
        ),
    }
}

// --- the interface ---

impl<'a> Stack<'a> {
    pub(super) fn template_type(
        &self,
        resource: &Resource,
        url: Arc<str>,
        entry: EntryPath,
        loader: &mut Loader<'_>,
    ) -> Result<ResolvedType<'a>, Box<Findings>> {
        let key = (url.clone(), entry.path.clone());
        if let Some(child) = loader.children.get(&key) {
            return Ok(ResolvedType::Template(child.clone()));
        }
        let mut findings = Findings::new();
        match loader.load(&url).cloned() {
            Some(Loaded::Template(template, flaws)) => {
                let interface =
                    nested::interface(&resource.type_name.value, &template, self.defaults);
                let child = NestedTemplate { url, entry: Some(entry), template, interface, flaws };
                let child = Arc::new(child);
                loader.children.insert(key, child.clone());
                return Ok(ResolvedType::Template(child));
            }
            Some(Loaded::Unreadable(problems)) => {
                let used = resource.type_name.span;
                let problems = problems.into_iter().map(|p| p.label(used, "used as a type here"));
                findings.extend(Stage::Types, problems);
            }
            None => findings.add(Stage::Types, not_there(&url, resource.type_name.span)),
        }
        Err(Box::new(findings))
    }
}

fn not_there(url: &str, span: Span) -> Diagnostic {
    let scheme = match url.split_once(':') {
        Some((scheme, _))
            if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c)) =>
        {
            scheme
        }
        _ => "",
    };
    let message = match scheme {
        "http" | "https" => format!("Failed to retrieve template from {url}"),
        _ => format!("Could not fetch remote template \"{url}\": Invalid URL scheme {scheme}"),
    };
    Diagnostic::error(&codes::NESTED_TEMPLATE, message)
        .at(span)
        .help("send the template in `files` under exactly this name")
}

// --- the stack inside ---

impl Stack<'_> {
    pub(super) fn check_child(
        &self,
        resource: &Resource,
        child: &NestedTemplate,
        values: &Members,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) {
        findings.extend(Stage::Properties, self.facade_mismatch(resource, child));
        findings.extend(Stage::Types, unknown_output_keys(&child.template));
        findings.extend(Stage::Types, outputs_as_interface(&child.flaws));
        if self.context.checks.nested == NestedChecks::Interface {
            return;
        }
        let inner = self.check_inside(resource, child, values, loader);
        findings.append(wrapped(inner, self.keywords().resources, resource, &child.url));
    }

    /// Checks the stack that a resource creates from a template it generates.
    pub(super) fn check_expansion(
        &self,
        resource: &Resource,
        template: &Value,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) {
        if self.context.checks.nested == NestedChecks::Interface {
            return;
        }
        let span = resource.properties.as_ref().map_or(resource.name_span, |expr| expr.span);
        let (template, flaws) =
            lower::template(Node::from_value(template, span, SecretHandling::Mask));
        let Some(template) = template else { return };
        let child = NestedTemplate {
            url: "nested_stack".into(),
            entry: None,
            template: Arc::new(template),
            interface: TypeSchema::new(""),
            flaws,
        };
        let inner = self.check_inside(resource, &child, &Members::new(), loader);
        findings.append(wrapped(inner, self.keywords().resources, resource, &child.url));
    }

    fn check_inside(
        &self,
        resource: &Resource,
        child: &NestedTemplate,
        properties: &Members,
        loader: &mut Loader<'_>,
    ) -> Findings {
        let mut findings = Findings::new();
        let limit = self.context.max_depth;
        if self.depth >= limit {
            let message = format!("Request limit exceeded: Recursion depth exceeds {limit}.");
            let diagnostic = Diagnostic::error(&codes::NESTED_TOO_DEEP, message);
            let help = "a template that includes itself never ends";
            findings.add(Stage::Properties, diagnostic.at(resource.type_name.span).help(help));
            return findings;
        }
        loader.resources += child.template.resources.len();
        if loader.resources > self.context.max_resources.unwrap_or(MAX_RESOURCES) {
            findings.add(Stage::Sections, too_many_resources(resource.type_name.span));
            return findings;
        }
        let flaws = child.flaws.clone().except(Stage::ParameterDefinitions);
        findings.append(flaws.filter(|flaw| flaw.code != &codes::OUTPUT_DEFINITION));
        let inside = nested::NestedStack {
            template: child.template.clone(),
            properties,
            defaults: self.defaults,
            files: self.definition.files.clone(),
            pseudo: PseudoParameters {
                stack_name: resource.name.clone(),
                stack_id: None,
                project_id: "".into(),
                dialect: child.template.version.dialect(),
            },
        };
        let (definition, problems) = inside.bind(self.context.custom, ParameterCheck::NamesOnly);
        findings.append(problems);
        let mut checks = self.context.checks;
        checks.values = checks.nested == NestedChecks::Values;
        let context = Context { checks, ..*self.context };
        let stack = Stack {
            context: &context,
            definition: &definition,
            registry: &self.registry.child(&resource.name, child.entry.as_ref()),
            defaults: self.defaults,
            depth: self.depth + 1,
        };
        findings.append(stack.check(loader).0);
        findings
    }

    /// The differences between a template and the built-in type that it stands in for.
    fn facade_mismatch(&self, resource: &Resource, child: &NestedTemplate) -> Option<Diagnostic> {
        let types = self.context.types;
        let is_builtin = |name: &str| types.schema(name).is_some();
        let kind = &resource.type_name.value;
        let entry = child.entry.as_ref()?;
        let hidden =
            self.registry.resolve_without(kind, Some(&resource.name), entry, &is_builtin).ok()?;
        let facade = match hidden {
            crate::environment::Implementation::Builtin(name) => types.schema(&name)?,
            crate::environment::Implementation::Template { .. } => return None,
        };
        let message = mismatch(kind, facade, &child.interface)?;
        let diagnostic = Diagnostic::error(&codes::FACADE_MISMATCH, message)
            .at(resource.type_name.span)
            .help(format!("{} must have the parameters and outputs of {kind}", child.url));
        Some(diagnostic)
    }
}

fn mismatch(name: &str, facade: &TypeSchema, provider: &TypeSchema) -> Option<String> {
    for property in &facade.properties {
        match provider.property(&property.name) {
            None if property.required => {
                let property = &property.name;
                return Some(format!(
                    "Required property {property} for facade {name} missing in provider"
                ));
            }
            None => {}
            Some(own) => {
                let wanted = match property.kind {
                    PropertyType::Integer => PropertyType::Number,
                    kind => kind,
                };
                if wanted != own.kind && property.kind != PropertyType::Any {
                    return Some(format!(
                        "Property {} type mismatch between facade {name} ({}) and provider ({})",
                        property.name,
                        property.kind.name(),
                        own.kind.name()
                    ));
                }
            }
        }
    }
    for own in provider.properties.iter().filter(|own| own.required) {
        if facade.property(&own.name).is_none() {
            let own = &own.name;
            return Some(format!("Provider requires property {own} unknown in facade {name}"));
        }
    }
    let missing = facade
        .attributes
        .iter()
        .find(|attribute| !provider.attributes.iter().any(|own| own.name == attribute.name))?;
    Some(format!("Attribute {} for facade {name} missing in provider", missing.name))
}

/// Keys that outputs do not have: passed over in a root template, rejected in a nested one.
fn unknown_output_keys(template: &Template) -> Vec<Diagnostic> {
    let keys = template.outputs.values().flat_map(|output| &output.unknown_keys);
    keys.map(|key| {
        let message =
            format!("\"{}\" is not a valid keyword inside a output definition", key.value);
        Diagnostic::error(&codes::OUTPUT_DEFINITION, message).at(key.span)
    })
    .collect()
}

/// Output definitions that are wrong, in Heat's words when it reads an interface.
fn outputs_as_interface(flaws: &Findings) -> Vec<Diagnostic> {
    let wrong = flaws.iter().filter(|flaw| flaw.code == &codes::OUTPUT_DEFINITION);
    wrong
        .map(|flaw| {
            let found = flaw.message.strip_suffix(" instead").and_then(|m| m.rsplit_once(' '));
            let message = match found {
                Some((_, kind)) => format!(
                    "\"outputs\" must contain a map of output maps. Found a [<class '{kind}'>] instead"
                ),
                None => flaw.message.replace("output definition", "output"),
            };
            Diagnostic { message, class: String::new(), path: String::new(), ..flaw.clone() }
        })
        .collect()
}

pub(super) fn too_many_resources(span: Span) -> Diagnostic {
    let message = "Request limit exceeded: Maximum resources per stack exceeded.";
    Diagnostic::error(&codes::TOO_MANY_RESOURCES, message).at(span)
}

/// Findings of a nested stack as its parent reports them.
fn wrapped(inner: Findings, section: &str, resource: &Resource, template: &str) -> Findings {
    let step = format!("{section}.{}<{template}>", resource.name);
    let wrapped = inner.map(|mut diagnostic| {
        if diagnostic.class.is_empty() {
            match diagnostic.code {
                code if code == &codes::UNKNOWN_SECTION => {
                    diagnostic.class = "InvalidTemplateSection".into();
                }
                _ if diagnostic.kind != "StackValidationFailed" => {
                    diagnostic.class = diagnostic.kind.into();
                }
                _ => {}
            }
        }
        diagnostic.kind = "StackValidationFailed";
        diagnostic.path = match &*diagnostic.path {
            "" => step.clone(),
            inner => format!("{step}.{inner}"),
        };
        let used =
            Label { span: resource.type_name.span, text: "in the stack of this resource".into() };
        if !diagnostic.labels.iter().any(|label| label.span == used.span) {
            diagnostic.labels.push(used);
        }
        diagnostic
    });
    wrapped.at_stage(Stage::Properties)
}
