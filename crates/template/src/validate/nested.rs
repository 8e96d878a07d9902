//! Templates inside templates: loading them, their interfaces, and the stacks they make.

use super::loader::{Loaded, Loader};
use super::lookalikes::lookalikes;
use super::stack::{ResolvedType, Stack};
use super::{Context, Expansion, ExpansionTemplate, NestedChecks, Sample};
use crate::codes;
use crate::constraint::NestedConstraints;
use crate::diagnostic::{Diagnostic, Label};
use crate::document::{Node, SecretHandling};
use crate::environment::{EntryPath, Owner};
use crate::findings::{Findings, Stage};
use crate::generated;
use crate::lower;
use crate::nested;
use crate::parameters::{ParameterCheck, PseudoParameters};
use crate::schema::TypeSchema;
use crate::source::Span;
use crate::template::{Resource, Template};
use crate::value::{Members, Value};
use std::sync::Arc;

/// A template that implements a resource's type.
#[derive(Debug)]
pub(super) struct NestedTemplate {
    pub(super) url: Arc<str>,
    pub(super) entry: Option<EntryPath>,
    template: Arc<Template>,
    /// Its parameters and outputs as a type's.
    pub(super) interface: TypeSchema,
    /// The errors in the template itself.
    flaws: Findings,
    /// Types that have another name inside its stack.
    aliases: Vec<(Arc<str>, Arc<str>)>,
}

/// How many resources are validated where the operator sets no limit on the resources of a stack.
const MAX_RESOURCES: usize = 100_000;

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
        let mut loaded = loader.load(&url).cloned();
        if loaded.is_none() && entry.owner == Owner::Operator {
            loaded = loader.load_global(&url, self.registry.global()).cloned();
        }
        match loaded {
            Some(Loaded::Template(template, flaws)) => {
                let interface =
                    nested::interface(&resource.type_name.value, &template, self.defaults);
                let aliases = Vec::new();
                let entry = Some(entry);
                let child = NestedTemplate { url, entry, template, interface, flaws, aliases };
                let child = Arc::new(child);
                loader.children.insert(key, child.clone());
                return Ok(ResolvedType::Template(child));
            }
            Some(Loaded::Unreadable(problems)) => {
                let used = resource.type_name.span;
                let problems = problems.into_iter().map(|p| p.label(used, "used as a type here"));
                findings.extend(Stage::Types, problems);
            }
            None => {
                let reason = loader.absence(&url);
                let message = format!("Could not fetch remote template \"{url}\": {reason}");
                let absent = Diagnostic::error(&codes::NESTED_TEMPLATE, message);
                let absent = absent.at(resource.type_name.span).help(SEND_FILE);
                findings.add(Stage::Types, absent);
            }
        }
        Err(Box::new(findings))
    }
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
        findings.extend(Stage::Properties, self.facade_mismatch(resource, child, loader));
        findings.extend(Stage::Types, unknown_output_keys(&child.template));
        findings.extend(Stage::Types, outputs_as_interface(&child.flaws));
        findings.extend(Stage::OutputValues, lookalikes(&child.template));
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
        expansion: &Expansion,
        loader: &mut Loader<'_>,
        findings: &mut Findings,
    ) {
        if self.context.checks.nested == NestedChecks::Interface {
            return;
        }
        let aliases = expansion.aliases.clone();
        let before = loader.resources;
        let inner = match &expansion.template {
            ExpansionTemplate::Generated(template) => {
                let span = resource.properties.as_ref().map_or(resource.name_span, |it| it.span);
                let is_apart =
                    |value: &Value| matches!(value, Value::Secret(_) | Value::Unknown(_));
                let (open, apart) = generated::with_parameters(template, is_apart);
                let node = Node::from_value(&open, span, SecretHandling::Mask);
                let (Some(template), flaws) = lower::template(node) else { return };
                let child = NestedTemplate::expanded(Arc::new(template), flaws, aliases);
                self.check_inside(resource, &child, &apart, loader)
            }
            ExpansionTemplate::File(url, parameters) => match loader.load(url).cloned() {
                Some(Loaded::Template(template, flaws)) => {
                    let child = NestedTemplate::expanded(template, flaws, aliases);
                    let mut inner = unknown_parameters(&child.template, parameters, resource);
                    inner.append(self.check_inside(resource, &child, parameters, loader));
                    inner
                }
                Some(Loaded::Unreadable(problems)) => {
                    let mut inner = Findings::new();
                    let class = |it: Diagnostic| Diagnostic { class: "ValueError".into(), ..it };
                    inner.extend(Stage::Properties, problems.into_iter().map(class));
                    inner
                }
                None => absent_file(url, &loader.absence(url), resource),
            },
        };
        let inner = match expansion.sample.filter(|_| self.context.counts_members) {
            Some(sample) => self.check_count(resource, (before, sample), inner, loader),
            None => inner,
        };
        let url: Arc<str> = "nested_stack".into();
        let is_own = |found: &Diagnostic| {
            expansion.reports_types && found.code == &codes::UNKNOWN_TYPE && found.path.is_empty()
        };
        let (own, inner) = (inner.clone().filter(is_own), inner.filter(|found| !is_own(found)));
        findings.append(own.at_stage(Stage::Properties));
        findings.append(wrapped(inner, self.keywords().resources, resource, &url));
    }

    /// Counts a group of which some members were validated, with everything nested in them, as if all of them had been.
    fn check_count(
        &self,
        resource: &Resource,
        (before, sample): (usize, Sample),
        mut findings: Findings,
        loader: &mut Loader<'_>,
    ) -> Findings {
        let inside = loader.resources.saturating_sub(before);
        let all = inside.saturating_mul(sample.total) / sample.shown.max(1);
        let limit = self.context.max_resources.unwrap_or(MAX_RESOURCES);
        let was_within = loader.resources <= limit;
        loader.resources = before.saturating_add(all.max(inside));
        if was_within && loader.resources > limit {
            findings.add(Stage::Sections, too_many_resources(resource.type_name.span));
        }
        findings
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
        let (mut definition, problems) =
            inside.bind(self.context.custom, ParameterCheck::NamesOnly);
        definition.query_limits = self.context.query_limits;
        findings.append(problems);
        let mut checks = self.context.checks;
        checks.values = checks.nested == NestedChecks::Values;
        let custom = NestedConstraints(self.context.custom);
        let context = Context { checks, custom: &custom, ..*self.context };
        let stack = Stack {
            context: &context,
            definition: &definition,
            registry: &self
                .registry
                .child(&resource.name, child.entry.as_ref())
                .with_aliases(&child.aliases),
            defaults: self.defaults,
            depth: self.depth + 1,
        };
        findings.append(stack.check(loader).0);
        findings
    }
}

/// What to do about a template that is not there.
const SEND_FILE: &str = "send the template in `files` under exactly this name";

impl NestedTemplate {
    /// The template of a resource whose type is no template.
    fn expanded(
        template: Arc<Template>,
        flaws: Findings,
        aliases: Vec<(Arc<str>, Arc<str>)>,
    ) -> NestedTemplate {
        let interface = TypeSchema::new("");
        NestedTemplate {
            url: "nested_stack".into(),
            entry: None,
            template,
            interface,
            flaws,
            aliases,
        }
    }
}

/// The error for a template, named by a property, that is not there.
fn absent_file(url: &str, reason: &str, resource: &Resource) -> Findings {
    let message = format!("Could not fetch remote template '{url}': {reason}");
    let absent = Diagnostic::error(&codes::NESTED_TEMPLATE, message).class("ValueError");
    let mut findings = Findings::new();
    findings.add(Stage::Properties, absent.at(resource.name_span).help(SEND_FILE));
    findings
}

/// Values for parameters that a template does not declare.
fn unknown_parameters(template: &Template, values: &Members, resource: &Resource) -> Findings {
    let mut findings = Findings::new();
    for name in values.keys().filter(|name| !template.parameters.contains_key(*name)) {
        let message = format!("The Parameter ({name}) was not defined in template.");
        let unknown = Diagnostic::error(&codes::PARAMETER_UNKNOWN, message);
        findings.add(Stage::ParameterDefinitions, unknown.at(resource.name_span));
    }
    findings
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
