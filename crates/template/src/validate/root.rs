//! Validation of the root template and everything below it.

use super::loader::Loader;
use super::lookalikes::lookalikes;
use super::nested::too_many_resources;
use super::stack::Stack;
use super::{Context, SharedFiles};
use crate::codes;
use crate::definition::Definition;
use crate::diagnostic::Diagnostic;
use crate::document::Node;
use crate::environment::{self, Environment, GlobalEnvironment, Registry};
use crate::findings::{Findings, Stage};
use crate::lower;
use crate::parameters::{Parameters, PseudoParameters, SuppliedParameters, SuppliedValues};
use crate::source::{FileId, Sources};
use crate::template::Template;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The root template: still text, or read already.
pub enum Root {
    /// A file; its text is in the sources.
    Text(FileId),
    /// A document, read from a file in the sources.
    Document(Node),
    /// A document that came as an object in a request, without a text of its own.
    Object(Node),
}

/// The input of a validation.
pub struct Input {
    /// The root template.
    pub template: Root,
    /// Values for parameters from the request itself.
    pub parameters: SuppliedValues,
    /// The environment of the request.
    pub environment: Environment,
    /// Names of files that are merged to an environment, which replaces the one above.
    pub environment_files: Vec<Arc<str>>,
    /// The operator's environment.
    pub global: Arc<GlobalEnvironment>,
    /// The files of the request.
    pub files: SharedFiles,
    /// Why templates could not be fetched, by URL.
    pub unfetched: BTreeMap<Arc<str>, Arc<str>>,
    /// Files that were parsed before, by their names among the files.
    pub documents: IndexMap<Arc<str>, Node>,
    /// The stack's name.
    pub stack_name: Arc<str>,
    /// The stack's id, if it has one already.
    pub stack_id: Option<Arc<str>>,
    /// The project's id.
    pub project_id: Arc<str>,
}

impl Input {
    /// A template alone.
    pub fn new(template: FileId) -> Input {
        Input {
            template: Root::Text(template),
            parameters: SuppliedValues::new(),
            environment: Environment::default(),
            environment_files: Vec::new(),
            global: Arc::default(),
            files: SharedFiles::default(),
            unfetched: BTreeMap::new(),
            documents: IndexMap::new(),
            stack_name: "".into(),
            stack_id: None,
            project_id: "".into(),
        }
    }
}

/// The result of a validation.
#[derive(Debug, Default)]
pub struct Report {
    /// Everything found; the error that Heat would have reported comes first.
    pub diagnostics: Vec<Diagnostic>,
    /// The template, if it could be read at all.
    pub template: Option<Arc<Template>>,
    /// The template bound to its parameters.
    pub definition: Option<Definition>,
    /// The environment in force.
    pub environment: Environment,
    /// The resource registry in force.
    pub registry: Registry,
    /// The URLs of nested templates that are not among the files.
    pub missing_templates: BTreeSet<Arc<str>>,
}

impl Report {
    /// Whether the template is rejected.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Validates a template and everything below it.
pub fn validate(context: &Context<'_>, sources: &mut Sources, mut input: Input) -> Report {
    let mut findings = Findings::new();
    let root = std::mem::replace(&mut input.template, Root::Text(FileId::default()));
    let template = read(context, sources, root, &mut findings).map(Arc::new);
    let documents = std::mem::take(&mut input.documents);
    let mut loader = Loader::new(sources, input.files.clone(), documents, context.limits);
    loader.unfetched = std::mem::take(&mut input.unfetched);
    findings.append(loader.preload());
    let environment = environment(&input, template.as_deref(), &mut loader, &mut findings);
    let mut report = Report {
        diagnostics: Vec::new(),
        template: template.clone(),
        definition: None,
        registry: environment.registry(input.global.clone()),
        environment,
        missing_templates: BTreeSet::new(),
    };
    if let Some(template) = template {
        check(context, &mut loader, input, template, &mut report, &mut findings);
    }
    report.missing_templates = loader.missing;
    report.diagnostics = told_once(findings);
    report
}

/// The environment in force: the request's, or the one made of its files.
fn environment(
    input: &Input,
    template: Option<&Template>,
    loader: &mut Loader<'_>,
    findings: &mut Findings,
) -> Environment {
    if input.environment_files.is_empty() {
        let mut environment = input.environment.clone();
        environment.override_parameters(input.parameters.clone());
        return environment;
    }
    let kinds = loader.parameter_kinds(template);
    let kind_of = |name: &str| kinds.get(name).copied();
    let text_of = |name: &str| input.files.get(name).cloned();
    let request = input.parameters.clone();
    let limits = loader.limits;
    let names = &input.environment_files;
    let (environment, problems) =
        environment::merge::read_files(names, &text_of, request, &kind_of, loader.sources, &limits);
    findings.extend(Stage::ParameterDefinitions, problems);
    environment
}

fn check(
    context: &Context<'_>,
    loader: &mut Loader<'_>,
    input: Input,
    template: Arc<Template>,
    report: &mut Report,
    findings: &mut Findings,
) {
    loader.resources = template.resources.len();
    if let Some(limit) = context.max_resources.filter(|limit| loader.resources > *limit) {
        let over = template.resources.get_index(limit).map(|(_, resource)| resource.name_span);
        let span = over.unwrap_or(template.span);
        findings.add(Stage::Sections, too_many_resources(span));
    }
    let pseudo = PseudoParameters {
        stack_name: input.stack_name,
        stack_id: input.stack_id,
        project_id: input.project_id,
        dialect: template.version.dialect(),
    };
    let supplied = SuppliedParameters {
        request: SuppliedValues::new(),
        environment: report.environment.parameters.clone(),
        defaults: report.environment.parameter_defaults.clone(),
    };
    let definitions = template.parameters.clone();
    let (parameters, problems) =
        Parameters::bind(definitions, supplied, &pseudo, context.custom, context.checks.parameters);
    findings.extend(Stage::ParameterValues, problems);
    let (mut definition, problems) =
        Definition::bind(template, parameters, input.files, context.checks.absent);
    findings.append(problems);
    findings.extend(Stage::ResourceDefinitions, definition.policies_of_no_parent());
    definition.query_limits = context.query_limits;
    let stack = Stack {
        context,
        definition: &definition,
        registry: &report.registry,
        defaults: &report.environment.parameter_defaults,
        depth: 0,
    };
    let (found, unawaited) = stack.check(loader);
    findings.append(found);
    findings.extend(Stage::OutputValues, lookalikes(&definition.template));
    definition.ignore_dependencies_on(&unawaited);
    report.definition = Some(definition);
}

fn read(
    context: &Context<'_>,
    sources: &Sources,
    root: Root,
    findings: &mut Findings,
) -> Option<Template> {
    let is_object = matches!(root, Root::Object(_));
    let (node, problems) = match root {
        Root::Document(node) | Root::Object(node) => (Some(node), Vec::new()),
        Root::Text(file) => {
            let text = sources.get(file).map_or("", |source| source.text());
            crate::read::read(file, text, &context.limits)
        }
    };
    let (template, lowered) = match node {
        Some(node) => lower::template(node),
        None => (None, Findings::new()),
    };
    findings.extend(Stage::Read, problems);
    findings.append(lowered);
    *findings = std::mem::take(findings).map(|mut problem| {
        let code = problem.code;
        if !problem.is_error() {
            return problem;
        }
        if code == &codes::NO_VERSION && is_object {
            // The version of a text is checked before anything else.
            let message = "The template version is invalid: Template version was not provided";
            let found = Diagnostic::error(&codes::BAD_VERSION, message);
            return Diagnostic { labels: problem.labels, help: problem.help, ..found };
        }
        let unreadable =
            [&codes::SYNTAX, &codes::NOT_PLAIN_DATA, &codes::TOO_DEEP, &codes::TOO_MANY_ALIASES];
        if unreadable.contains(&code) {
            problem.message = format!("Error parsing template [root stack] {}", problem.message);
        }
        if unreadable.contains(&code) || [&codes::NOT_A_MAP, &codes::NO_VERSION].contains(&code) {
            problem.message = format!("Template not in valid format: {}", problem.message);
        }
        problem
    });
    template
}

/// All findings in order; a nested template used many times has its mistakes reported once.
fn told_once(findings: Findings) -> Vec<Diagnostic> {
    let mut reported = BTreeSet::new();
    let mut diagnostics = findings.into_ordered();
    diagnostics.retain(|found| {
        found
            .span()
            .is_none_or(|span| reported.insert((span, found.code.id, found.message.clone())))
    });
    diagnostics
}
