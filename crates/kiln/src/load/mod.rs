//! Loads the input of validation: reads files, resolves names to URLs,
//! and merges environments.
//!
//! Files that the command line names must be readable, or the command fails. A missing file that a
//! template refers to is a finding.

pub(crate) mod disk;
pub(crate) mod global_environment;
mod hidden;
pub(crate) mod plugins;

use crate::cli::TemplateArgs;
use crate::render::names::Names;
use crate::render::texts::MaskedRanges;
use crate::stdio::CommandError;
use disk::{Disk, STDIN};
use kiln_resources::constraints::offline;
use kiln_resources::environment::shipped;
use kiln_resources::registry::Registry;
use kiln_template::document::Node;
use kiln_template::environment::{Environment, merge};
use kiln_template::files::{
    FileLimits, Gathered, Gatherer, arguments::parse_parameter_files, arguments::parse_parameters,
    url,
};
use kiln_template::parameters::{ParameterType, SuppliedValues};
use kiln_template::validate::{Checks, Context, Input, Report, Root, validate};
use kiln_template::{Diagnostic, FileId, Limits, Sources, Span, Value, codes, lower, read};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The maximum size of a document that is not a template.
const MAX_DATA: usize = 64 << 20;

/// A template that was validated.
pub(crate) struct CheckedTemplate {
    /// The name of the template in messages.
    pub(crate) file: String,
    /// All findings: the client's first, then the service's.
    pub(crate) found: Vec<Diagnostic>,
    /// The report of the validation, without its findings.
    pub(crate) report: Report,
    /// The source texts.
    pub(crate) sources: Sources,
    /// The names of files in messages.
    pub(crate) names: Names,
    /// The ranges of the texts that must be masked.
    pub(crate) hidden: MaskedRanges,
}

impl CheckedTemplate {
    /// Whether no finding is an error.
    pub(crate) fn is_valid(&self) -> bool {
        !self.found.iter().any(Diagnostic::is_error)
    }
}

/// Reads a template with its environments and parameters, and validates it.
pub(crate) fn check(
    subject: &TemplateArgs,
    types: &Registry,
    checks: Checks,
) -> Result<CheckedTemplate, CommandError> {
    let LoadedFiles { file, template, environments, parameters, gathered, mut sources, names } =
        load(subject)?;
    let documents = template.iter().chain(&environments).chain(gathered.documents.values());
    let hidden = hidden::places(documents, &gathered.diagnostics, &sources);
    let mut found = gathered.diagnostics;
    let Some(template) = template else {
        let report = Report::default();
        return Ok(CheckedTemplate { file, found, report, sources, names, hidden });
    };
    let kinds = parameter_kinds(&template, gathered.documents.values());
    let (environment, problems) = merged(&environments, parameters, &kinds, &sources);
    found.extend(problems);
    let mut input = Input::new(FileId::default());
    input.template = Root::Document(template);
    input.environment = environment;
    input.global = Arc::new(shipped());
    let files = gathered.files.into_iter().map(|(url, text)| (url.into(), text.into()));
    input.files = Arc::new(files.collect());
    input.documents = gathered.documents;
    // Templates may refer to both ids; findings do not depend on their values.
    input.stack_name = "stack".into();
    input.project_id = "0".repeat(32).into();
    let custom = offline(now().as_secs().try_into().unwrap_or(i64::MAX));
    let context = Context { counts_members: true, ..Context::new(types, &custom, checks) };
    let mut report = validate(&context, &mut sources, input);
    let echoes = RepeatedFindings::of(&found);
    found.extend(std::mem::take(&mut report.diagnostics).into_iter().filter(|f| !echoes.has(f)));
    Ok(CheckedTemplate { file, found, report, sources, names, hidden })
}

/// The contents of a request to create a stack.
#[cfg(feature = "dev")]
pub(crate) struct StackInput {
    /// The text of the template.
    pub(crate) template: Arc<str>,
    /// The merged environment.
    pub(crate) environment: Environment,
    /// Values of parameters.
    pub(crate) parameters: SuppliedValues,
    /// The files that templates refer to, by URL.
    pub(crate) files: kiln_template::Files,
}

/// Reads a template with its environments and parameters, as a client sends them.
#[cfg(feature = "dev")]
pub(crate) fn request(subject: &TemplateArgs) -> Result<StackInput, CommandError> {
    use kiln_template::print;
    let LoadedFiles { template, environments, parameters, gathered, sources, file, .. } =
        load(subject)?;
    let problem = gathered.diagnostics.iter().find(|found| found.is_error());
    let (Some(template), None) = (template, problem) else {
        let message = problem.map(Diagnostic::text).unwrap_or_default();
        return Err(CommandError::usage(format!("{file}: {message}; `kiln validate` shows more")));
    };
    let kinds = parameter_kinds(&template, gathered.documents.values());
    let (environment, _) = merged(&environments, parameters, &kinds, &sources);
    let text = print::json(&Value::from(&template), print::Keys::Ordered);
    let files = gathered.files.into_iter().map(|(url, text)| (url.into(), text.into()));
    let files = files.collect();
    Ok(StackInput { template: text.into(), environment, parameters: SuppliedValues::new(), files })
}

/// A document of plain data, or a finding.
pub(crate) enum LoadedDocument {
    /// The document.
    Read(Node),
    /// The finding and its text.
    Refused(Vec<Diagnostic>),
}

/// Reads a document of plain data: a path, a file:// URL, or - for standard input.
pub(crate) fn document(path: &str, sources: &mut Sources) -> Result<LoadedDocument, CommandError> {
    let limits = Limits { max_bytes: MAX_DATA, ..Limits::default() };
    let mut disk = Disk::new(limits.max_bytes);
    let name = if path == "-" { STDIN } else { path };
    let url = url::from_path(&working_directory()?, name);
    let bytes = disk.open(&url, name)?;
    let text = match read::decode(FileId::default(), bytes) {
        Ok(text) => text,
        // There is no text to show an excerpt of.
        Err(refusal) => {
            let refusal = Diagnostic { labels: Vec::new(), ..*refusal };
            return Ok(LoadedDocument::Refused(vec![refusal]));
        }
    };
    let file = sources.add(name, &*text);
    let (node, found) = read::read(file, &text, &limits);
    Ok(node.map_or(LoadedDocument::Refused(found), LoadedDocument::Read))
}

/// A random id.
#[allow(clippy::disallowed_methods, reason = "the edge: nothing below asks for randomness itself")]
pub(crate) fn random_id() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}

/// The time since 1970.
#[allow(clippy::disallowed_methods, reason = "the edge: nothing below asks for the time itself")]
pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Filters findings that repeat that a file is missing.
struct RepeatedFindings {
    /// The spans that refer to missing files.
    places: BTreeSet<u32>,
}

impl RepeatedFindings {
    fn of(found: &[Diagnostic]) -> RepeatedFindings {
        let unreadable = found.iter().filter(|found| found.code == &codes::FILE_UNREADABLE);
        let places = unreadable.filter_map(Diagnostic::span).map(|span| span.start);
        RepeatedFindings { places: places.collect() }
    }

    fn has(&self, found: &Diagnostic) -> bool {
        let is_consequence = [&codes::NESTED_TEMPLATE, &codes::FUNCTION_FAILED];
        is_consequence.contains(&found.code)
            && found
                .span()
                .is_some_and(|Span { start, end }| self.places.range(start..=end).next().is_some())
    }
}

/// All files that were read.
struct LoadedFiles {
    file: String,
    template: Option<Node>,
    environments: Vec<Node>,
    parameters: SuppliedValues,
    gathered: Gathered,
    sources: Sources,
    names: Names,
}

fn load(subject: &TemplateArgs) -> Result<LoadedFiles, CommandError> {
    let here = working_directory()?;
    let mut names = Names::seen_from(url::as_directory(&url::from_path(&here, &here)));
    let limits = FileLimits::default();
    let mut disk = Disk::new(limits.max_file_bytes);
    let mut open = |typed: &str| {
        let url = url::from_path(&here, typed);
        names.typed(&url, typed);
        disk.open(&url, typed).map(|_| url)
    };
    let file = if subject.template == "-" { STDIN } else { &subject.template };
    let template = open(file)?;
    let environments: Vec<String> =
        subject.environments.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let given = match &*subject.parameters {
        [] => Default::default(),
        arguments => parse_parameters(arguments).map_err(usage)?,
    };
    let contents = parse_parameter_files(&subject.parameter_files, &template).map_err(usage)?;
    for (_, url) in &contents {
        disk.open(url, &names.shown(url))?;
    }

    let mut sources = Sources::new();
    let mut gathering = Gatherer::new(&disk, &mut sources, &limits);
    let template = gathering.template(&template);
    let environments = environments.iter().filter_map(|url| gathering.environment(url)).collect();
    let mut parameters: SuppliedValues =
        given.into_iter().map(|(name, value)| (name, value.into())).collect();
    for (name, url) in contents {
        if let Some(content) = gathering.content(&url) {
            parameters.insert(name, Value::from(content).into());
        }
    }
    let (file, gathered) = (file.to_owned(), gathering.finish());
    Ok(LoadedFiles { file, template, environments, parameters, gathered, sources, names })
}

/// Merges the environment files and the parameters of the command line, as the service does.
fn merged(
    environments: &[Node],
    parameters: SuppliedValues,
    kinds: &BTreeMap<Arc<str>, ParameterType>,
    sources: &Sources,
) -> (Environment, Vec<Diagnostic>) {
    let name = |node: &Node| sources.range_of(node.span).map_or("", |(source, _)| source.name());
    // Errors of single environments were reported when they were collected.
    let parsed: Vec<(Arc<str>, Environment)> =
        environments.iter().map(|node| (name(node).into(), Environment::parse(node).0)).collect();
    merge::merge_files(parameters, &parsed, &|name| kinds.get(name).copied())
}

/// The types of all parameters; the root template takes precedence.
fn parameter_kinds<'a>(
    root: &'a Node,
    nested: impl Iterator<Item = &'a Node>,
) -> BTreeMap<Arc<str>, ParameterType> {
    let mut kinds = BTreeMap::new();
    for document in std::iter::once(root).chain(nested) {
        if let (Some(template), _) = lower::template(document.clone()) {
            for (name, parameter) in template.parameters.iter() {
                kinds.entry(name.clone()).or_insert(parameter.kind);
            }
        }
    }
    kinds
}

fn usage(error: impl Display) -> CommandError {
    CommandError::usage(error.to_string())
}

pub(crate) fn working_directory() -> Result<String, CommandError> {
    let unknown =
        |why: String| CommandError::usage(format!("the working directory is unknown: {why}"));
    let here = std::env::current_dir().map_err(|error| unknown(error.to_string()))?;
    here.into_os_string().into_string().map_err(|_| unknown("its name is not valid UTF-8".into()))
}
